import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call, CallResult } from '../contract/call.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { UserActionRequired } from '../errors.ts';
import { decodeObject, encode, isObject } from '../json/json-value.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { canAnswer, type ServerRequest } from '../mcp/server-requests.ts';
import { type BridgeResultParts, inputRequiredResult } from './bridge/bridge.ts';
import { type FaultReply, inWords, linkSentence } from './wire-faults.ts';

/**
 * The answer to a call that needs something which only the person can do in a browser.
 *
 * Shape: a client with url-mode elicitation gets the link as -32042 (2025-11-25) or as an `input_required` result
 * (2026-07-28), whose retry makes the same call again. Other clients, and calls that plugins make, get the sentence and
 * the link as a tool failure, or as -32603 when it is not a tool.
 * Source: MCP 2025-11-25, URL elicitation required error; MCP 2026-07-28, input required.
 */
export function replyWithLink(parts: BridgeResultParts, call: Call, cause: UserActionRequired): FaultReply {
  const words = inWords(call, cause);
  if (call.parent !== undefined) return words;
  const { refusal } = words;
  const about = { outcome: 'refused', isOurs: false, refusal } as const;
  const error = linkError(call.client, cause);
  if (error !== undefined) return { ...about, error };
  const result = linkResult(parts, call, cause);
  return result === undefined ? words : { ...about, result };
}

/** The error for a client of 2025-11-25 that can open a URL; `undefined` for all others. */
function linkError(client: ClientContext, cause: UserActionRequired): WireError | undefined {
  if (client.era !== '2025-11-25' || !canAnswer(client.capabilities, requestOf(cause))) return undefined;
  const { message, url } = cause;
  const elicitations = [{ mode: 'url', elicitationId: randomUUID(), url, message }];
  return wireError(CODE.legacyUrlElicitationRequired, message, { elicitations });
}

/** The link as an error, for every client; those that cannot open a URL get it in words. */
export function linkAsError(client: ClientContext, cause: UserActionRequired): WireError {
  return linkError(client, cause) ?? wireError(CODE.internalError, linkSentence(cause));
}

function linkResult(parts: BridgeResultParts, call: Call, cause: UserActionRequired): CallResult | undefined {
  const { client, method, round, backendState } = call;
  const link = requestOf(cause);
  if (!canAnswer(client.capabilities, link) || !MAY_ASK.has(method) || round >= parts.limits.rounds) return undefined;
  try {
    const inner = backendState === undefined ? {} : { inner: backendState };
    return inputRequiredResult(parts, call, new Map([[LINK, link]]), { linkSent: true, ...inner });
  } catch {
    return undefined; // with the state of the backend it is too large
  }
}

function requestOf({ message, url }: UserActionRequired): ServerRequest {
  return { method: 'elicitation/create', params: encode({ mode: 'url', url, message }) };
}

/** Methods whose result may be `input_required`. Source: MCP 2026-07-28. */
const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Key of the link in `inputRequests`. */
const LINK = 'toolmgr.link';

/** A call after a link was sent: what the client answered. */
export interface AnsweredLink {
  readonly link?: LinkAnswer;
}

type LinkAnswer = 'opened' | 'notOpened' | 'unanswered';

/** Reads the answer to a link from `inputResponses`. */
export function linkAnswer(inputResponses: RawJson | undefined): LinkAnswer {
  const answer = inputResponses === undefined ? undefined : decodeObject(inputResponses)?.[LINK];
  if (!isObject(answer)) return 'unanswered';
  return answer.action === 'accept' ? 'opened' : 'notOpened';
}

/**
 * Decides or makes a call again after the person agreed to open the link. Clients retry at once, while the person is still in the
 * browser, so the call is tried for half a minute before a new link is sent.
 */
export async function whenDone<T>(run: (call: Call) => T, call: Call): Promise<Awaited<T>> {
  for (const waitMs of WAITS_MS) {
    try {
      return await run(call);
    } catch (cause) {
      if (!(cause instanceof UserActionRequired)) throw cause;
    }
    await pause(waitMs, undefined, { signal: call.signal });
  }
  return await run(call);
}

const WAITS_MS = [1_000, 1_000, 2_000, 2_000, 4_000, 4_000, 8_000, 8_000] as const;
