import {
  type Call,
  type Caller,
  definePlugin,
  type Gateway,
  isObject,
  type JsonObject,
  type Log,
  type Plugin,
  type Reply,
  resultFromValue,
  STAGE,
} from '@toolmgr/core';
import { CANNOT_ASK } from '@toolmgr/plugins/kit/confirm';
import { z } from 'zod';
import { leftFor, planFromConfig, type SectionedConfig } from '../plan.ts';
import { withStartedBackends } from '../with-started-backends.ts';

/** How a call would end before it is sent. */
export interface Decision {
  readonly decision: 'permitted' | 'refused' | 'failed';
  /** What the caller would be told, or what must happen before it is permitted. */
  readonly reason?: string;
  /** HTTP status of a refusal. */
  readonly status?: number;
  /** What plugins logged about the call, e.g. the policies that decided. */
  readonly told: readonly Told[];
  /** What the backend would get, after all rewriting. Absent for calls that are not sent. */
  readonly sent?: { readonly backend: string; readonly name: string; readonly arguments: JsonObject };
}

/** A line of the log about one call. */
export interface Told {
  readonly message: string;
  readonly fields: JsonObject;
}

/** Decides calls as the gateway of a file would; nothing is sent to a backend. */
export type Decide = (tool: string, given: JsonObject, caller: Caller | undefined) => Promise<Decision>;

/**
 * Starts the backends of a file for their lists, and calls `use` with a gateway that sends no call. Policy servers and webhooks of the
 * file are asked as in a call.
 * @throws what `createGateway` and `use` throw
 */
export function withDecisions<Result>(
  read: SectionedConfig,
  file: string,
  command: 'listing' | 'deciding',
  use: (decide: Decide, gateway: Gateway) => Promise<Result>,
): Promise<Result> {
  const noted = createNotes();
  const plan = planFromConfig(leftFor(command, read));
  // its tap is the first, so it is inside of all others: they refuse and rewrite as before
  const plugins = [{ use: DECISIONS }, ...(plan.plugins ?? [])];
  const options = { plugins: [noted.plugin], log: noted.log, now: noted.now };
  return withStartedBackends({ ...plan, plugins }, file, options, (gateway) => use(decideAt(gateway, noted), gateway));
}

/** The plugin that ends every call before it is sent. */
export const DECISIONS = 'decisions';

/** What was noted about the call that is being decided. Calls are decided one after the other. */
interface Notes {
  readonly plugin: Plugin;
  readonly log: Log;
  readonly now: () => number;
  begin(): void;
  readonly told: readonly Told[];
  readonly sent: Decision['sent'] | undefined;
}

function createNotes(): Notes {
  let told: Told[] = [];
  let sent: Decision['sent'];
  let lines = 0;
  const note = (message: string, fields: JsonObject = {}): void => {
    lines += 1;
    if (typeof fields.call === 'string') told.push({ message, fields });
  };
  const neverSent = async (call: Call) => {
    sent = { backend: call.target.backend, name: call.target.original, arguments: call.arguments };
    return resultFromValue({ content: [] });
  };
  return {
    plugin: definePlugin({
      address: DECISIONS,
      config: z.strictObject({}),
      apply: (core) => core.hooks.wrapDispatch.tap({ name: DECISIONS, stage: STAGE.first }, () => neverSent),
    }) as Plugin,
    log: { debug: note, info: note, warn: note, error: note },
    now: () => Date.now() + Math.floor(lines / LINES) * 1_000,
    begin() {
      told = [];
      sent = undefined;
    },
    get told() {
      return told;
    },
    get sent() {
      return sent;
    },
  };
}

/** Lines after which the clock is a second later: plugins log a bounded number per second, and each decision should be logged. */
const LINES = 25;

function decideAt(gateway: Gateway, notes: Notes): Decide {
  return async (name, given, caller) => {
    notes.begin();
    const reply = await gateway.perform({ name, arguments: given, ...(caller === undefined ? {} : { caller }) });
    const { told, sent } = notes;
    return sent === undefined ? { ...refusedBy(reply), told } : { decision: 'permitted', told, sent };
  };
}

/** Why the call was not sent. */
function refusedBy(reply: Reply): Pick<Decision, 'decision' | 'reason' | 'status'> {
  if ('refusal' in reply && reply.refusal.reason === CANNOT_ASK)
    return { decision: 'permitted', reason: 'when a person agrees' };
  if ('refusal' in reply) return { decision: 'refused', reason: reply.refusal.reason, status: reply.refusal.status };
  if ('error' in reply) return { decision: 'failed', reason: reply.error.message };
  const [first] = Array.isArray(reply.result.value.content) ? reply.result.value.content : [];
  return { decision: 'failed', reason: isObject(first) ? String(first.text) : 'the call is not sent' };
}
