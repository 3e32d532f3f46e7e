import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher, request } from 'undici';
import { UsageError } from '../../shared/usage-error.ts';
import { refusal, rpcErrorIn, silence, unreachable } from './request-failures.ts';

const MAX_ANSWER_BYTES = 104_857_600;
const CONNECT_MS = 10_000;
const CLOSE_MS = 2_000;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The `fetch` of one endpoint for the SDK's transport, which tells why a request failed in words for a person. */
export interface WatchedFetch {
  readonly fetch: FetchLike;
  /** HTTP status of the last answer. */
  status(): number | undefined;
  /**
   * Runs one request. The signal ends it when no byte came for the timeout, or when the answer broke off.
   * @throws UsageError nothing answers, too slowly or too much, or the caller is refused · what `work` throws
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Makes one. `timeoutMs` is the longest silence: until the head of an answer, and between two parts of it.
 * @param isConnected a 403 with a JSON-RPC error refuses the caller before, and is an answer afterwards
 */
export function createWatchedFetch(url: string, timeoutMs: number, isConnected: () => boolean): WatchedFetch {
  // silence is measured here: the SDK does not end a request whose stream breaks off
  const dispatcher = new Agent({
    connect: { timeout: Math.min(CONNECT_MS, timeoutMs) },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let status: number | undefined;
  let current: RunningRequest | undefined;

  // the platform's fetch refuses some ports, and undici's request does not follow redirects
  const answerTo = async (target: string | URL, init: RequestInit): Promise<Dispatcher.ResponseData> => {
    const { method, headers, body, signal } = init;
    const signals = [...(signal ? [signal] : []), ...(method === 'DELETE' ? [AbortSignal.timeout(CLOSE_MS)] : [])];
    const ending = AbortSignal.any(signals);
    try {
      return await request(target, {
        method: method === 'DELETE' || method === 'GET' ? method : 'POST',
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === 'string' ? body : null,
        signal: ending,
        dispatcher,
      });
    } catch (cause) {
      if (!ending.aborted) current?.note(unreachable(url, timeoutMs, cause));
      throw cause;
    }
  };
  return {
    async fetch(target, init = {}) {
      // the stream of messages outside a request is not read; a stream of a request may be resumed
      const isListening = init.method === 'GET' && !new Headers(init.headers).has('last-event-id');
      if (isListening) return new Response(null, { status: 405 });
      const answer = await answerTo(target, init);
      current?.heard();
      status = answer.statusCode;
      const head = { status, headers: headersOf(answer) };
      if (WITHOUT_BODY.has(status)) return new Response(await answer.body.text().then(() => null), head);
      const body = ReadableStream.from(watched(answer.body, url, timeoutMs, current));
      if (status !== 401 && status !== 403) return new Response(body, head);
      const text = await new Response(body).text();
      const error = rpcErrorIn(text);
      if (status === 401 || error === undefined || !isConnected()) {
        current?.note(refusal(url, status, head.headers.get('www-authenticate') ?? '', error));
      }
      return new Response(text, head);
    },
    status: () => status,
    async run(work) {
      const running = runningRequest(timeoutMs, () => silence(url, timeoutMs));
      current = running;
      try {
        return await work(running.signal);
      } catch (cause) {
        throw running.fault() ?? cause;
      } finally {
        running.stop();
        current = undefined;
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** The body as it comes; tells its request about every part and about its breaking off. */
async function* watched(
  body: AsyncIterable<Uint8Array>,
  url: string,
  timeoutMs: number,
  running: RunningRequest | undefined,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      running?.heard();
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw new UsageError(`${url} answered more than ${MAX_ANSWER_BYTES} bytes`);
      yield chunk;
    }
  } catch (cause) {
    running?.end(cause instanceof UsageError ? cause : unreachable(url, timeoutMs, cause));
    throw cause;
  }
}

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  const copy = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) copy.append(name, each);
  }
  return copy;
}

interface RunningRequest {
  readonly signal: AbortSignal;
  /** A byte came. */
  heard(): void;
  /** Keeps why a request fails, for when it does. */
  note(fault: UsageError): void;
  end(fault: UsageError): void;
  fault(): UsageError | undefined;
  stop(): void;
}

function runningRequest(timeoutMs: number, silent: () => UsageError): RunningRequest {
  const ending = new AbortController();
  let fault: UsageError | undefined;
  const end = (why: UsageError): void => {
    fault ??= why;
    ending.abort(why);
  };
  const timer = setTimeout(() => end(silent()), timeoutMs);
  return {
    signal: ending.signal,
    heard: () => void timer.refresh(),
    note(why) {
      fault = why;
    },
    end,
    fault: () => fault,
    stop: () => clearTimeout(timer),
  };
}
