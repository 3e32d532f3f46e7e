import { randomUUID } from 'node:crypto';
import type { CallResult } from '../../contract/call.ts';
import type { Caller } from '../../contract/caller.ts';
import type { ClientContext, ClientResponse } from '../../contract/client-context.ts';
import type { Inbound } from '../../contract/inbound.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { canAnswer, type ServerRequest } from '../../mcp/server-requests.ts';
import { Shares, shareOfCall } from '../../mcp/shares.ts';
import { inputResponseFor, modernRequest } from './input-required.ts';

/** What one round of a parkable call ended with. */
export type RoundEnd =
  | { readonly result: CallResult }
  | { readonly questions: ReadonlyMap<string, ServerRequest>; readonly parked: string };

/** Runs the call with a client that may ask and a signal that outlives one request. */
export type Parkable = (client: ClientContext, signal: AbortSignal) => Promise<CallResult>;

/** One request of the client of a call. */
export interface Asking {
  readonly client: ClientContext;
  readonly caller: Caller;
  readonly inbound?: Inbound | undefined;
  readonly signal: AbortSignal;
}

/**
 * Modern client, legacy backend: a call whose backend asks something stays open here while its client, in a new
 * request, brings the answers.
 */
export interface SuspendedCalls {
  /** Runs a call until it ends or asks. */
  run(call: Asking, body: Parkable): Promise<RoundEnd>;
  /** Goes on with a parked call; `undefined` when there is none of that handle for this caller. */
  resume(handle: string, call: Asking, responses: RawJson | undefined): Promise<RoundEnd> | undefined;
  /** Ends what nobody came back for. */
  sweep(): void;
  readonly size: number;
  /** Resolves when the calls that wait now have ended, each in its own way. */
  ended(): Promise<void>;
  stop(): void;
}

/**
 * Keeps a bounded number of calls waiting, each for as long as its state is good. A call that finds no place takes that of the oldest of
 * its caller, or of the caller with the most; when nobody can go, its questions are answered in its client's stead.
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
      if (call.isInRound) continue; // its client is here now
      give(call, 'another call took its place');
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
        if (!call.isInRound && call.waitUntilMs <= now()) give(call, 'nobody came back with the answers');
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
  /** A request of the client is waiting on this call right now. */
  isInRound = true;
  readonly #controller = new AbortController();
  readonly #pending = new Map<string, PendingQuestion>();
  #client: ClientContext;
  #asked = 0;
  #outcome: Promise<CallResult> | undefined;
  #wake: (() => void) | undefined;
  #leave: (() => void) | undefined;

  constructor(asking: Asking) {
    this.callerKey = asking.caller.key;
    this.share = shareOfCall(asking);
    this.#client = asking.client;
    this.enter(asking);
  }

  get outcome(): Promise<CallResult> | undefined {
    return this.#outcome;
  }

  /** A request of the client takes the call over: its disconnect cancels, its stream gets what is told. */
  enter(asking: Pick<Asking, 'client' | 'signal'>): void {
    this.#leave?.();
    this.#client = asking.client;
    this.isInRound = true;
    const cancel = (): void => this.abort('the client cancelled');
    if (asking.signal.aborted) cancel();
    asking.signal.addEventListener('abort', cancel, { once: true });
    this.#leave = () => asking.signal.removeEventListener('abort', cancel);
  }

  start(body: Parkable): void {
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
    this.#outcome.catch(() => {}); // read again in nextEnd, or nobody is left to hear it
  }

  /** Waits for the end of the call or for a question; several questions of one moment come together. */
  async nextEnd(): Promise<
    { readonly result: CallResult } | { readonly questions: ReadonlyMap<string, ServerRequest> }
  > {
    const outcome = this.#outcome as Promise<CallResult>;
    // a question may be withdrawn, or its client gone, before this goes on: then there is nothing to ask
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

  /** Gives the client's answers to the questions they belong to; unknown keys are ignored, missing ones asked again. */
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
        resolve({ error: wireError(CODE.internalError, 'the question was withdrawn') });
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
