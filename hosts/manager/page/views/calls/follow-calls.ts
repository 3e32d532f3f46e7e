import { linesOf } from '../../app/lines.ts';
import { sendRequest } from '../../app/request.ts';

/** One call, as `RecentCall` of the host. */
export interface Call {
  readonly seq: number;
  readonly id: string;
  readonly isInner?: boolean;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly method: string;
  readonly name: string;
  readonly original?: string;
  readonly backend: string;
  readonly caller: string;
  readonly client?: string;
  readonly outcome: string;
  readonly detail?: string;
  readonly resultBytes?: number;
}

/** Calls `take` with the last calls and then with new ones, until `signal` aborts; connects again when the stream ends. */
export async function followCalls(
  path: string,
  take: (calls: readonly Call[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      const answer = await sendRequest(`${path}/stream?after=${after}`, {
        signal,
        headers: { accept: 'text/event-stream' },
      });
      if (answer.body === null) return;
      for await (const line of linesOf(answer.body, MAX_LINE)) {
        if (!line.startsWith('data:')) continue;
        const { calls = [] } = JSON.parse(line.slice(5)) as { readonly calls?: readonly Call[] };
        after = calls.at(-1)?.seq ?? after;
        take(calls);
      }
    } catch {
      // the next attempt says whether the host answers again
    }
    if (!signal.aborted) await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

const MAX_LINE = 4 * 1024 * 1024;
const AGAIN_MS = 2_000;
