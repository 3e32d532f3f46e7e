import { randomUUID } from 'node:crypto';
import type { CallResult } from '../../contract/call.ts';
import type { Caller } from '../../contract/caller.ts';
import type { ClientContext, ClientResponse } from '../../contract/client-context.ts';
import type { Inbound } from '../../contract/inbound.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { type HeldBytes, heldOf } from '../../mcp/byte-budget.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { canAnswer, type ServerRequest } from '../../mcp/server-requests.ts';
import { Shares, shareOfCall } from '../../mcp/shares.ts';
import { inputResponseFor, modernRequest } from './input-required.ts';

/** How one round of a call ended. */
export type RoundEnd =
  | { readonly result: CallResult }
  | { readonly questions: ReadonlyMap<string, ServerRequest>; readonly parked: string };

/** Runs the call with a client that can receive requests and a signal that outlives one HTTP request. */
export type SuspendableRun = (client: ClientContext, signal: AbortSignal) => Promise<CallResult>;

/** One request of the client for a call. */
export interface ClientRound {
  readonly client: ClientContext;
  readonly caller: Caller;
  readonly inbound?: Inbound | undefined;
  readonly signal: AbortSignal;
}

/**
 * Modern client, legacy backend: a call whose backend sent a request stays open here until its client sends the
 * response in a new request.
 */
export interface SuspendedCalls {
  /** Runs a call until it ends or its backend sends a request. */
  run(call: ClientRound, body: SuspendableRun): Promise<RoundEnd>;
  /** Resumes a suspended call; `undefined` when this caller has none with that handle. */
  resume(handle: string, call: ClientRound, responses: RawJson | undefined): Promise<RoundEnd> | undefined;
  /** Ends expired calls. */
  sweep(): void;
  readonly size: number;
  /** Resolves when all suspended calls have ended. */
  ended(): Promise<void>;
  stop(): void;
}

/**
 * Keeps a limited number of calls suspended, each as long as its state is valid. At the limit the oldest one of the
 * caller, or of the caller with the most, is ended; when none can be ended, the requests of the new call are answered
 * with an error.
 */
export function createSuspendedCalls(
  limits: Pick<Limits, 'parkedCalls' | 'parkedPerCaller' | 'requestStateTtlMs'>,
  now: () => number,
): SuspendedCalls {
  const parked = new Map<string, SuspendedCall>();
  const shares = new Shares<SuspendedCall>(limits.parkedCalls, limits.parkedPerCaller);
  const remove = (call: SuspendedCall): void => {
    parked.delete(call.handle);
    shares.delete(call.share, call);
  };
  const makeRoom = (share: string): boolean => {
    const donor = shares.donor(share);
    if (donor === undefined) return true;
    for (const call of donor) {
      if (call.isInRound) continue; // its client is connected now
      give(call, 'it was ended for another call');
      return true;
    }
    return false;
  };
  const roundOf = async (call: SuspendedCall): Promise<RoundEnd> => {
    const end = await call.nextEnd().catch((cause: unknown) => {
      remove(call);
      throw cause;
    });
    if ('result' in end) {
      remove(call);
      return end;
    }
    if (!parked.has(call.handle) && !makeRoom(call.share)) {
      call.answerAll({ error: wireError(CODE.internalError, 'too many calls are waiting for an answer') });
      return roundOf(call);
    }
    parked.set(call.handle, call);
    shares.add(call.share, call);
    call.waitUntilMs = now() + limits.requestStateTtlMs;
    return { questions: end.questions, parked: call.handle };
  };
  const give = (call: SuspendedCall, why: string): void => {
    remove(call);
    call.abort(why);
  };
  return {
    run(asking, body) {
      const call = new SuspendedCall(asking);
      call.start(body);
      return roundOf(call);
    },
    resume(handle, asking, responses) {
      const call = parked.get(handle);
      if (call === undefined || call.callerKey !== asking.caller.key || call.isInRound) return undefined;
      call.enter(asking);
      call.answer(responses);
      return roundOf(call);
    },
    sweep() {
      for (const call of parked.values()) {
        if (!call.isInRound && call.waitUntilMs <= now()) give(call, 'the client did not send its responses in time');
      }
    },
    get size() {
      return parked.size;
    },
    async ended() {
      await Promise.allSettled([...parked.values()].map((call) => call.outcome));
    },
    stop() {
      for (const call of parked.values()) give(call, 'the gateway stopped');
    },
  };
}

type PendingQuestion = { readonly question: ServerRequest; readonly settle: (answer: ClientResponse) => void };

/** One call that may wait between requests. */
class SuspendedCall {
  readonly handle = randomUUID();
  readonly callerKey: string;
  readonly share: string;
  waitUntilMs = Number.POSITIVE_INFINITY;
  /** Whether a request of the client waits for this call now. */
  isInRound = true;
  readonly #controller = new AbortController();
  readonly #pending = new Map<string, PendingQuestion>();
  #client: ClientContext;
  #asked = 0;
  #outcome: Promise<CallResult> | undefined;
  #wake: (() => void) | undefined;
  #leave: (() => void) | undefined;
  /** Of the first request: its body is needed until the call ends, and the result may come before the client. */
  #held: HeldBytes | undefined;

  constructor(asking: ClientRound) {
    this.#held = heldOf(asking.inbound);
    this.#held?.keep();
    this.callerKey = asking.caller.key;
    this.share = shareOfCall(asking);
    this.#client = asking.client;
    this.enter(asking);
  }

  get outcome(): Promise<CallResult> | undefined {
    return this.#outcome;
  }

  /** Attaches a request of the client: its disconnect cancels the call, its stream gets the notifications. */
  enter(asking: Pick<ClientRound, 'client' | 'signal'>): void {
    this.#leave?.();
    this.#client = asking.client;
    this.isInRound = true;
    const cancel = (): void => this.abort('the client cancelled');
    if (asking.signal.aborted) cancel();
    asking.signal.addEventListener('abort', cancel, { once: true });
    this.#leave = () => asking.signal.removeEventListener('abort', cancel);
  }

  start(body: SuspendableRun): void {
    const first = this.#client;
    const client: ClientContext = {
      era: first.era,
      capabilities: first.capabilities,
      clientInfo: first.clientInfo,
      owner: first.owner,
      progressToken: first.progressToken,
      logLevel: first.logLevel,
      notify: (method, params) => {
        if (this.isInRound) this.#client.notify(method, params);
      },
      request: (method, params, signal) => this.#ask({ method, params }, signal),
    };
    this.#outcome = body(client, this.#controller.signal);
    this.#outcome.catch(() => {}); // handled in nextEnd, if it is still called
  }

  /** Waits for the end of the call or for requests of the backend; concurrent requests are sent together. */
  async nextEnd(): Promise<
    { readonly result: CallResult } | { readonly questions: ReadonlyMap<string, ServerRequest> }
  > {
    const outcome = this.#outcome as Promise<CallResult>;
    // a request may be cancelled, or its client disconnect, before this continues: then nothing is sent
    while (this.#pending.size === 0) {
      const asked = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
      });
      const result = await Promise.race([outcome, asked]).catch((cause: unknown) => {
        this.#end();
        throw cause;
      });
      this.#wake = undefined;
      if (result !== undefined) {
        this.#end();
        return { result };
      }
    }
    this.isInRound = false;
    this.#leave?.();
    return { questions: new Map([...this.#pending].map(([key, { question }]) => [key, question])) };
  }

  /** Passes the client's responses to their requests; unknown keys are ignored, missing ones are requested again. */
  answer(responses: RawJson | undefined): void {
    const given = responses === undefined ? undefined : RawObject.parse(responses);
    for (const [key, pending] of this.#pending) {
      const answer = inputResponseFor(given, key);
      if (answer === undefined) continue;
      this.#pending.delete(key);
      pending.settle(answer);
    }
  }

  answerAll(answer: ClientResponse): void {
    for (const pending of this.#pending.values()) pending.settle(answer);
    this.#pending.clear();
    this.isInRound = true;
  }

  abort(why: string): void {
    this.#controller.abort(new Error(why));
    this.answerAll({ error: wireError(CODE.internalError, why) });
    this.#end();
  }

  #end(): void {
    this.isInRound = false;
    this.#leave?.();
    this.#leave = undefined;
    this.#held?.release();
    this.#held = undefined;
  }

  #ask(legacy: ServerRequest, signal: AbortSignal): Promise<ClientResponse> {
    const question = modernRequest(legacy);
    if (!canAnswer(this.#client.capabilities, question)) {
      return Promise.resolve({ error: wireError(CODE.methodNotFound, `the client does not support ${legacy.method}`) });
    }
    const key = `q${++this.#asked}`;
    return new Promise((resolve) => {
      const gone = (): void => {
        this.#pending.delete(key);
        resolve({ error: wireError(CODE.internalError, 'the request was cancelled') });
      };
      signal.addEventListener('abort', gone, { once: true });
      this.#pending.set(key, {
        question,
        settle: (answer) => {
          signal.removeEventListener('abort', gone);
          resolve(answer);
        },
      });
      queueMicrotask(() => this.#wake?.());
    });
  }
}
