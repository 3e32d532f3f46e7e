import type { HostRoute } from '../mount.ts';
import type { PageAccess } from '../page-access.ts';
import { callEvents, lastKnownCall } from './call-events.ts';
import type { CallReader } from './feed.ts';

/** Open streams of all readers; a page needs one. */
const MAX_STREAMS = 32;

/**
 * The calls of a gateway: `GET /api/calls` answers with the last ones, `GET /api/calls/stream` follows them as server-sent
 * events, from the call after `Last-Event-ID` or `?after=SEQ` on.
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
      answer(query, { headers }) {
        if (streams >= MAX_STREAMS) {
          const detail = `${MAX_STREAMS} streams of calls are open already`;
          return {
            status: 429,
            type: 'application/problem+json',
            body: { title: 'Too Many Requests', status: 429, detail },
          };
        }
        const seq = lastKnownCall(headers['last-event-id'], query.get('after'));
        return {
          status: 200,
          type: 'text/event-stream',
          body: '',
          async *stream(signal) {
            streams += 1;
            try {
              yield* callEvents(feed, seq, signal);
            } finally {
              streams -= 1;
            }
          },
        };
      },
    },
  ];
}
