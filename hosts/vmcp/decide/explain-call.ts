import { type Caller, isObject, parsedJson } from '@toolmgr/core';
import { type Explanation, explainTool } from '../../shared/running/explain.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { factsOf } from '../facts.ts';
import type { SectionedConfig } from '../plan.ts';
import { DECISIONS, type Decision, type Told, withDecisions } from './decider.ts';
import { readPeople } from './people.ts';

/** Where a tool comes from, and how a call of it is decided. */
export interface ExplainedCall extends Explanation {
  readonly call: Decision & { readonly caller: string };
}

/** A call that is decided and never sent. */
export interface AskedCall {
  readonly tool: string;
  /** A JSON object; default `{}`. */
  readonly arguments?: string | undefined;
  /** A file with the claims of the caller; `undefined` for an anonymous one. */
  readonly as?: string | undefined;
}

/**
 * Decides a call as the gateway of a file would.
 * @throws UsageError for invalid arguments, and when the callers of the file sign in and no one is named
 */
export async function explainCall(read: SectionedConfig, file: string, asked: AskedCall): Promise<ExplainedCall> {
  const given = asked.arguments === undefined ? {} : parsedJson(asked.arguments);
  if (!isObject(given)) throw new UsageError(`the arguments are not a JSON object: ${asked.arguments}`);
  const caller = await callerFrom(read, asked.as);
  return withDecisions(read, file, 'listing', async (decide, gateway) => {
    const explained = explainTool(gateway, asked.tool, DECISIONS);
    const decision = await decide(explained.found ? explained.name : asked.tool, given, caller);
    return { ...explained, call: { caller: caller?.subject ?? 'anonymous', ...decision } };
  });
}

async function callerFrom(read: SectionedConfig, file: string | undefined): Promise<Caller | undefined> {
  if (file !== undefined) {
    const people = await readPeople(file);
    if (people.length !== 1) throw new UsageError(`${file} has ${people.length} people; --as takes one`);
    return people[0];
  }
  const { callers } = factsOf(read.config, read.sections);
  if (callers === undefined || callers === 'anonymous') return undefined;
  throw new UsageError('callers of this file sign in: give the claims of one with --as person.json');
}

/** The decision as text lines, beside those of the tool. */
export function decisionLines({ call }: ExplainedCall): string[] {
  const { decision, reason, status, told, sent, caller } = call;
  const why = reason === undefined ? '' : `${status === undefined ? '' : ` (${status})`}: ${reason}`;
  return [
    `call by        ${caller}`,
    `decision       ${decision}${why}`,
    ...told.map(toldLine),
    ...(sent === undefined
      ? []
      : [`would be sent  ${sent.name} ${JSON.stringify(sent.arguments)} to ${sent.backend}; nothing was sent`]),
  ];
}

function toldLine({ message, fields: { call: _, caller: __, policies, ...fields } }: Told): string {
  if (!Array.isArray(policies)) return `logged         ${message} ${JSON.stringify(fields)}`;
  const named = policies.length === 0 ? 'none permits it' : policies.join(', ');
  const failed = Array.isArray(fields.failed) ? `; failed: ${fields.failed.join(', ')}` : '';
  const reason = fields.reason === undefined ? '' : `; ${fields.reason}`;
  return `policies       ${message}: ${named}${failed}${reason}`;
}
