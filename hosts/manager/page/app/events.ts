import { effect, signal } from '@preact/signals';
import { linesOf } from './lines.ts';
import { sendRequest } from './request.ts';
import { needsSignIn, token } from './session.ts';

/** What changed, as `ManagementEvent` of the API; `missed`: changes that are no longer known. */
export interface ChangeEvent {
  readonly type: string;
  readonly name: string;
  readonly status?: string;
}

/** Whether changes arrive now. */
export const liveness = signal<'connecting' | 'live' | 'lost'>('connecting');

const listeners = new Set<(event: ChangeEvent) => void>();

/** Calls `listener` for each change until the returned function is called. */
export function onChange(listener: (event: ChangeEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the event stream of the API, and connects again after it ends. Returns a function that stops it. */
export function followEvents(path: string): () => void {
  const stop = new AbortController();
  // a new token begins a new stream
  const unsubscribe = effect(() => {
    const current = token.value;
    if (needsSignIn.value) return undefined;
    const attempt = new AbortController();
    void follow(path, AbortSignal.any([stop.signal, attempt.signal]), current);
    return () => attempt.abort();
  });
  return () => {
    unsubscribe();
    stop.abort();
  };
}

async function follow(path: string, signal: AbortSignal, _token: string): Promise<void> {
  let wait = FIRST_WAIT_MS;
  let lastId = '';
  while (!signal.aborted) {
    try {
      const resume: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
      const answer = await sendRequest(path, { signal, headers: { accept: 'text/event-stream', ...resume } });
      if (answer.body === null) return;
      liveness.value = 'live';
      wait = FIRST_WAIT_MS;
      await readEvents(answer.body, (id) => {
        lastId = id;
      });
    } catch {
      if (needsSignIn.value) return;
    }
    if (signal.aborted) return;
    liveness.value = 'lost';
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, LAST_WAIT_MS);
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, keepId: (id: string) => void): Promise<void> {
  let type = '';
  let data = '';
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data !== '') publishText(type, data);
      type = '';
      data = '';
    } else if (line.startsWith('id:')) keepId(line.slice(3).trim());
    else if (line.startsWith('event:')) type = line.slice(6).trim();
    else if (line.startsWith('data:')) data += line.slice(5).trim();
  }
}

function publishText(type: string, data: string): void {
  try {
    const event = JSON.parse(data) as Partial<ChangeEvent>;
    publish({ type, name: '', ...event });
  } catch {
    // a text that is no JSON is no event of ours
  }
}

function publish(event: ChangeEvent): void {
  for (const listener of listeners) listener(event);
}

const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 10_000;
