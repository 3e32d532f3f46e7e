import type { ClientResponse } from '../../../contract/client-context.ts';
import type { RawJson } from '../../../contract/json.ts';
import { encode } from '../../../json/json-value.ts';
import { notificationParts, requestParts } from '../../../mcp/envelope.ts';
import { CODE, wireError } from '../../../mcp/errors.ts';
import { MUST } from '../../message-writer.ts';
import type { ResumableStream } from './resumable-stream.ts';

/** Requests of the gateway to one client that wait for a response. */
export class PendingClientRequests {
  readonly #pending = new Map<number, (answer: ClientResponse) => void>();
  readonly #before: number;
  #lastId: number;

  /** `before`: ids are counted from the next number. */
  constructor(before = 0) {
    this.#before = before;
    this.#lastId = before;
  }

  /** Sends a request on `stream`. Never rejects: a timeout or a disconnected client gives an error response. */
  put(
    stream: ResumableStream,
    method: string,
    params: RawJson,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<ClientResponse> {
    if (signal.aborted) return Promise.resolve(failed('the request was withdrawn'));
    if (this.#pending.size >= MAX_PENDING) return Promise.resolve(failed('too many requests wait for a response'));
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const withdraw = (why: string): void => {
        stream.push(MUST, notificationParts('notifications/cancelled', encode({ requestId: id, reason: why })));
        settle(failed(why));
      };
      const aborted = (): void => withdraw('the request was withdrawn');
      const timer = setTimeout(() => withdraw('the client did not answer in time'), timeoutMs);
      timer.unref();
      const settle = (answer: ClientResponse): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        this.#pending.delete(id);
        resolve(answer);
      };
      signal.addEventListener('abort', aborted, { once: true });
      this.#pending.set(id, settle);
      if (!stream.push(MUST, requestParts(id, method, params))) settle(failed('the request is too large'));
    });
  }

  /** Passes a client's response to its request; `false` when no request with this id is pending. */
  answer(id: string | number, answer: ClientResponse): boolean {
    const settle = typeof id === 'number' ? this.#pending.get(id) : undefined;
    settle?.(answer);
    return settle !== undefined;
  }

  /** Whether this replica sent a request with this id, answered or not. */
  hasPut(id: string | number): boolean {
    return typeof id === 'number' && id > this.#before && id <= this.#lastId;
  }

  /** Ends all pending requests. */
  endAll(why: string): void {
    for (const settle of [...this.#pending.values()]) settle(failed(why));
  }
}

function failed(why: string): ClientResponse {
  return { error: wireError(CODE.internalError, why) };
}

const MAX_PENDING = 64; // of one session; users answer them
