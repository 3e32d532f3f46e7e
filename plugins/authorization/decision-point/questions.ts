import type { Call, Caller, CatalogEntry } from '@toolmgr/core';
import type { DecisionPointConfig } from './config.ts';

/** One question to the policy server, as JSON texts: they are parts of the requests of both protocols. */
export interface Question {
  readonly subject: string;
  readonly action: string;
  readonly resource: string;
  readonly context: string;
}

/** The action and the type of the resource for each kind of entry. */
const KINDS: Readonly<Record<CatalogEntry['kind'], { readonly action: string; readonly type: string }>> = {
  tool: { action: 'call_tool', type: 'tool' },
  prompt: { action: 'get_prompt', type: 'prompt' },
  resource: { action: 'read_resource', type: 'resource' },
  template: { action: 'read_resource', type: 'resource' },
};

/** The caller, as the policy server gets it. */
export function subjectOf({ issuer, subject, claims: all }: Caller, claims: readonly string[]): string {
  const given = claims.filter((claim) => Object.hasOwn(all, claim)).map((claim) => [claim, all[claim]]);
  return JSON.stringify({ type: 'user', id: subject, properties: { issuer, claims: Object.fromEntries(given) } });
}

/** The question whether a caller may use a listed entry. `name` is the URI for a resource of a template. */
export function questionOf(entry: CatalogEntry, subject: string, server: string, name = entry.key): Question {
  const { action, type } = KINDS[entry.kind];
  const id = entry.kind === 'template' ? name : entry.key;
  const origin = entry.isMissing ? {} : { backend: entry.backend, originalName: entry.original };
  return {
    subject,
    action: JSON.stringify({ name: action }),
    resource: JSON.stringify({ type, id, properties: origin }),
    context: JSON.stringify({ server }),
  };
}

/** The same for a call. With `includeArguments` its arguments are in the context, byte for byte. */
export function questionOfCall(
  call: Call,
  server: string,
  { claims, includeArguments }: Pick<DecisionPointConfig, 'claims' | 'includeArguments'>,
): Question | 'too large' {
  const question = questionOf(call.target, subjectOf(call.caller, claims), server, call.name);
  const given = includeArguments ? call.members.get('arguments') : undefined;
  if (given === undefined) return question;
  if (given.length > MAX_ARGUMENT_BYTES) return 'too large';
  return { ...question, context: `{"server":${JSON.stringify(server)},"arguments":${given.toString('utf8')}}` };
}

/** The largest arguments that are sent; a call with larger ones is refused. */
const MAX_ARGUMENT_BYTES = 65_536;
