import type { CallReader } from './feed.ts';

/** The last call that a reader knows: `Last-Event-ID` of a reconnect, else what the request names; 0 for anything else. */
export function lastKnownCall(lastEventId: string | string[] | undefined, given: unknown): number {
  const seq = Number(lastEventId ?? given ?? 0);
  return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
}

/**
 * The calls after `seq` as server-sent events, now and as they come.
 *
 * Shape: event `calls`, data `{"calls": RecentCall[]}`, id the `seq` of the last one (WHATWG HTML, server-sent events).
 */
export async function* callEvents(reader: CallReader, seq: number, signal: AbortSignal): AsyncGenerator<string> {
  yield 'retry: 2000\n\n';
  for await (const calls of reader.follow(seq, signal)) {
    yield `id: ${calls.at(-1)?.seq ?? 0}\nevent: calls\ndata: ${JSON.stringify({ calls })}\n\n`;
  }
}
