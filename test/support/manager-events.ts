import type { StartedManager } from './manager.ts';
import { until } from './until.ts';

/** One event of the stream. `data` is parsed. */
export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Readonly<Record<string, string>>;
}

/** An open event stream of a manager. */
export interface ReadEvents extends AsyncDisposable {
  readonly events: readonly ReadEvent[];
  readonly isEnded: boolean;
  /** Waits for an event. */
  next(matches: (event: ReadEvent) => boolean, ms?: number): Promise<ReadEvent>;
}

/** Opens the event stream of a manager. */
export async function readEvents(
  { url, token }: Pick<StartedManager, 'url' | 'token'>,
  lastEventId?: string,
): Promise<ReadEvents> {
  const controller = new AbortController();
  const response = await fetch(`${url}/api/v1beta/events`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: controller.signal,
  });
  if (response.status !== 200) throw new Error(`the event stream answered ${response.status}`);
  const events: ReadEvent[] = [];
  let isEnded = false;
  const reading = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) events.push(...eventFrom(frame));
    }
  })()
    .catch(() => {})
    .finally(() => {
      isEnded = true;
    });
  return {
    events,
    get isEnded() {
      return isEnded;
    },
    async next(matches, ms = 15_000) {
      await until(() => events.some(matches), ms);
      return events.find(matches) as ReadEvent;
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await reading;
    },
  };
}

function eventFrom(frame: string): ReadEvent[] {
  const fields = new Map(
    frame
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => {
        const at = line.indexOf(': ');
        return [line.slice(0, at), line.slice(at + 2)] as const;
      }),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  return [{ id: fields.get('id'), event: fields.get('event') ?? 'message', data: JSON.parse(data) }];
}
