import {
  checkParsePolicySet,
  type PolicyJson,
  policySetTextToParts,
  policyToJson,
} from '@cedar-policy/cedar-wasm/nodejs';
import { nearest } from '@toolmgr/core';
import { nestingProblem } from './nesting.ts';
import { referencesOf, uidKey } from './references.ts';
import type { StaticEntities } from './static-entities.ts';

/** One policy with the id that logs use. */
export interface Policy {
  readonly id: string;
  readonly text: string;
  readonly json: PolicyJson;
}

/** The error of the text at `index`, with position. */
export interface PolicyProblem {
  readonly index: number;
  readonly message: string;
}

/** The actions of the gateway. Source: the entity model of the contract's reference. */
export const ACTIONS = ['call_tool', 'get_prompt', 'read_resource'] as const;

/** Actions of other products that this gateway does not use, with the ones to use instead. */
const LIST_ACTIONS: Readonly<Record<string, string>> = {
  list_tools: 'call_tool',
  list_prompts: 'get_prompt',
  list_resources: 'read_resource',
};

/**
 * Parses policy texts; one text may contain several policies.
 *
 * Shape: ids are the `@id` annotation, else `policies[i]`, or `policies[i].k` where a text holds more than one.
 * Actions may be those of {@link ACTIONS} and those that `entities` has. Reports at most one problem per text.
 */
export function readPolicies(
  texts: readonly string[],
  entities: Pick<StaticEntities, 'has'>,
): { readonly policies: readonly Policy[]; readonly problems: readonly PolicyProblem[] } {
  const policies: Policy[] = [];
  const problems: PolicyProblem[] = [];
  const ids = new Map<string, number>();
  for (const [index, text] of texts.entries()) {
    const read = readText(text, index, entities);
    if ('message' in read) {
      problems.push({ index, message: read.message });
      continue;
    }
    for (const policy of read.policies) {
      const taken = ids.get(policy.id);
      if (taken !== undefined)
        problems.push({ index, message: `duplicate id "${policy.id}", already used by policies[${taken}]` });
      ids.set(policy.id, index);
      policies.push(policy);
    }
  }
  return { policies, problems };
}

type ReadText = { readonly policies: readonly Policy[] } | { readonly message: string };

function readText(text: string, index: number, entities: Pick<StaticEntities, 'has'>): ReadText {
  if (text.length > MAX_TEXT) return { message: `longer than ${MAX_TEXT} characters` };
  const nested = nestingProblem(text);
  if (nested !== undefined) return { message: nested };
  const parts = policySetTextToParts(text);
  if (parts.type === 'failure') return { message: errorText(text, parts.errors[0]) };
  const [template] = parts.policy_templates;
  if (template !== undefined) {
    return {
      message: `${positionOf(text, template)}: templates are not supported, write the entity instead of ?principal`,
    };
  }
  if (parts.policies.length === 0) return { message: 'contains no policy' };
  const ordered = [...parts.policies].sort((a, b) => text.indexOf(a) - text.indexOf(b));
  const policies: Policy[] = [];
  for (const [place, part] of ordered.entries()) {
    const read = policyToJson(part);
    if (read.type === 'failure') return { message: errorText(text, read.errors[0]) };
    // the form for lists is built from JSON; reports nesting that is too deep for JSON
    const checked = checkParsePolicySet({ staticPolicies: { [String(place)]: part } });
    if (checked.type === 'failure') return { message: errorText(text, checked.errors[0]) };
    const misplaced = approvalProblem(positionOf(text, part), read.json);
    if (misplaced !== undefined) return { message: misplaced };
    const unknown = unknownAction(text, read.json, entities);
    if (unknown !== undefined) return { message: unknown };
    const own = ordered.length === 1 ? `policies[${index}]` : `policies[${index}].${place}`;
    policies.push({ id: read.json.annotations?.id || own, text: part, json: read.json });
  }
  return { policies };
}

const MAX_TEXT = 262_144;

/** `@approval` that would have no effect, and annotations that look like it. */
function approvalProblem(place: string, { annotations = {}, effect }: PolicyJson): string | undefined {
  const similar = Object.keys(annotations).find(
    (name) => name !== 'approval' && nearest(name, ['approval']) !== undefined,
  );
  if (similar !== undefined) return `${place}: @${similar} has no effect, did you mean @approval?`;
  if (!('approval' in annotations)) return undefined;
  if (effect === 'forbid') return `${place}: @approval is for permit policies: it permits a call when a person agrees`;
  if (annotations.approval?.trim()) return undefined;
  return `${place}: @approval needs a text for the person, e.g. @approval("This pays an invoice")`;
}

/** A policy for an unused action has no effect, which is dangerous for a forbid. */
function unknownAction(text: string, policy: PolicyJson, entities: Pick<StaticEntities, 'has'>): string | undefined {
  for (const key of referencesOf([policy]).entities) {
    if (!key.startsWith('Action::') && !key.includes('::Action::')) continue;
    if (entities.has(key) || ACTIONS.some((id) => uidKey('Action', id) === key)) continue;
    const id = JSON.parse(key.slice(key.indexOf('::"') + 2)) as string;
    const place = positionOf(text, key);
    const asked = LIST_ACTIONS[id];
    if (asked !== undefined && key === uidKey('Action', id)) {
      return `${place}: ${key} is not used: lists show what ${uidKey('Action', asked)} permits; remove it`;
    }
    const hint = nearest(id, ACTIONS);
    const known = ACTIONS.map((action) => uidKey('Action', action)).join(', ');
    const advice = hint === undefined ? `(known: ${known})` : `did you mean ${uidKey('Action', hint)}?`;
    return `${place}: there is no ${key}, ${advice}`;
  }
  return undefined;
}

interface CedarError {
  readonly message: string;
  readonly sourceLocations?: readonly { readonly start: number; readonly label: string | null }[];
}

/** Cedar's message with the position in the text. */
function errorText(text: string, error: CedarError | undefined): string {
  if (error === undefined) return 'is not Cedar';
  const [location] = error.sourceLocations ?? [];
  const message = error.message.replace(/^failed to parse policy with id `[^`]*` from string: /, '');
  if (location === undefined) return message;
  const label = location.label === null ? '' : ` (${location.label.slice(0, MAX_LABEL)})`;
  return `${lineColumn(Buffer.from(text).subarray(0, location.start).toString())}: ${message}${label}`;
}

const MAX_LABEL = 200;

function positionOf(text: string, part: string): string {
  const at = text.indexOf(part);
  return lineColumn(at === -1 ? '' : text.slice(0, at));
}

/** Both from 1; columns in characters. */
function lineColumn(before: string): string {
  const lines = before.split('\n');
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? '')].length + 1}`;
}
