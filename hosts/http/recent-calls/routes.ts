import type { HostRoute } from '../mount.ts';
import type { PageAccess } from '../page-access.ts';
import type { CallReader, RecentCall } from './feed.ts';

/** Open streams of all readers; a page needs one. */
const MAX_STREAMS = 32;

/**
 * The calls of a gateway: `GET /api/calls` answers with the last ones, `GET /api/calls/stream` follows them as server-sent
 * events, from the call after `?after=SEQ` or `Last-Event-ID` on.
 *
 * Shape: `{"calls": RecentCall[]}` for both; the id of an event is the `seq` of its last call.
 */
export function recentCallRoutes(feed: CallReader, access?: () => PageAccess | undefined): readonly HostRoute[] {
  const guard = access === undefined ? {} : { access };
  let streams = 0;
  return [
    { path: '/api/calls', ...guard, answer: async () => ({ status: 200, body: { calls: await feed.recent() } }) },
    {
      path: '/api/calls/stream',
      ...guard,
      answer(query) {
        if (streams >= MAX_STREAMS) {
          const detail = `${MAX_STREAMS} streams of calls are open already`;
          return {
            status: 429,
            type: 'application/problem+json',
            body: { title: 'Too Many Requests', status: 429, detail },
          };
        }
        const after = Number(query.get('after') ?? 0);
        return {
          status: 200,
          type: 'text/event-stream',
          body: 'retry: 2000\n\n',
          async *stream(signal) {
            streams += 1;
            try {
              for await (const calls of feed.follow(Number.isSafeInteger(after) && after > 0 ? after : 0, signal)) {
                yield eventFrom(calls);
              }
            } finally {
              streams -= 1;
            }
          },
        };
      },
    },
  ];
}

function eventFrom(calls: readonly RecentCall[]): string {
  return `id: ${calls.at(-1)?.seq ?? 0}\nevent: calls\ndata: ${JSON.stringify({ calls })}\n\n`;
}
