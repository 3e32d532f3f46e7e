import type { Caller } from '../../contract/caller.ts';
import type { ClientRequester } from '../../contract/client-context.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import { joinParts } from '../../json/byte-pieces.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { errorText, responseBody, withoutHopMeta } from '../../mcp/backend-message.ts';
import { CODE } from '../../mcp/errors.ts';
import type { PendingRequest, Waited } from './pending-request.ts';

/** Questions of one backend that may wait for people at once; more are answered with an error. */
const MAX_OPEN = 64;
/** Answers on their way to one backend: over HTTP each is a connection. One that asks faster than it takes them gets none. */
const MAX_ANSWERING = 64;

/** A request of a backend. */
export interface Question {
  readonly method: string;
  readonly id: RawJson;
  readonly params: RawJson;
  /** The request of ours that it came with, when that is known. */
  readonly about: PendingRequest | undefined;
  readonly caller: Caller | undefined;
}

/** The link that questions come over. */
export interface Asking {
  readonly alive: boolean;
  readonly limits: Limits;
  readonly log: Log;
  /** Sends a response. @throws LinkFailure */
  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void>;
  /** Requests that a question may belong to when it does not say. */
  underway(): readonly PendingRequest[];
  about(cause: unknown): JsonObject;
}

/** Requests that a backend makes in the middle of calls: each is put to somebody, and its answer sent back. */
export class OpenQuestions {
  readonly #link: Asking;
  readonly #open = new Map<string, AbortController>();
  #answering = 0;

  constructor(link: Asking) {
    this.#link = link;
  }

  /** Answers a request of a backend; without `ask` nobody can be asked here. */
  take(question: Question, ask: ClientRequester | undefined): void {
    const { method, id, caller } = question;
    if (method === 'ping') return this.#respond(id, caller, '"result":{}');
    if (ask === undefined || !QUESTIONS.has(method)) {
      return this.#respond(id, caller, errorText(CODE.methodNotFound, `nobody can be asked for ${method} here`));
    }
    if (this.#open.has(id.toString('utf8'))) {
      return this.#respond(id, caller, errorText(CODE.invalidRequest, 'a question of this id is open'));
    }
    if (this.#open.size >= MAX_OPEN) {
      return this.#respond(id, caller, errorText(CODE.internalError, 'too many questions are open'));
    }
    this.#put(question, ask).catch((cause: unknown) =>
      this.#link.log.warn('answer to a backend not delivered', this.#link.about(cause)),
    );
  }

  /** The backend takes a question back. */
  cancel(id: RawJson): void {
    this.#open.get(id.toString('utf8'))?.abort();
  }

  /** Somebody is asked now. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  cancelAll(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #put(question: Question, ask: ClientRequester): Promise<void> {
    const { id, about, caller } = question;
    const link = this.#link;
    const key = id.toString('utf8');
    const open = new AbortController();
    this.#open.set(key, open);
    const giveUp = setTimeout(() => open.abort(), link.limits.askTimeoutMs);
    giveUp.unref();
    // A person thinks longer than a backend works: the clocks of the requests it may belong to stand meanwhile.
    const waiting = about === undefined ? link.underway() : [about];
    const left = new Set(waiting);
    const waited: Waited = {
      over(exchange) {
        // Nobody knows which of them it is about: as long as one is left it may be that one.
        if (left.delete(exchange) && left.size === 0) open.abort();
      },
    };
    for (const exchange of waiting) exchange.pause(waited);
    try {
      const params = withoutHopMeta(RawObject.parse(question.params));
      const answer = await ask(question.method, params, open.signal);
      if (link.alive) await link.post(responseBody(id, answer), question.method, caller);
    } catch (cause) {
      link.log.debug('question of a backend failed', link.about(cause));
      if (link.alive) this.#respond(id, caller, errorText(CODE.internalError, 'the question got no answer'));
    } finally {
      clearTimeout(giveUp);
      this.#open.delete(key);
      for (const exchange of waiting) exchange.resume(waited);
    }
  }

  /** Without a question there is no answer that a backend could miss: what is too much is left out. */
  #respond(id: RawJson, caller: Caller | undefined, member: string): void {
    const link = this.#link;
    if (this.#answering >= MAX_ANSWERING) return;
    this.#answering++;
    const body = joinParts(['{"jsonrpc":"2.0","id":', id, ',', member, '}']);
    link
      .post(body, 'response', caller)
      .catch((cause: unknown) => link.log.debug('response not delivered', link.about(cause)))
      .finally(() => this.#answering--);
  }
}

const QUESTIONS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);
