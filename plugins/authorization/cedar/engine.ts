import {
  type EntityJson,
  type PolicyJson,
  policyToText,
  preparsePolicySet,
  statefulIsAuthorized,
} from '@cedar-policy/cedar-wasm/nodejs';
import { GatewayFault } from '@toolmgr/core';
import { type ArgumentFacts, NO_ARGUMENTS } from './argument-facts.ts';
import type { CallerFacts } from './caller-facts.ts';
import type { EntryFacts } from './entry-facts.ts';
import { type Mentions, mentionsOf, uidKey } from './expression.ts';
import type { Policy } from './policies.ts';
import { reachableFrom, type StaticEntities } from './static-entities.ts';
import { dependsOnArguments, withUnknownArguments } from './unknown-arguments.ts';

/** What came of one question. */
export interface Verdict {
  readonly isAllowed: boolean;
  /** Ids of the policies that decided; empty when none permitted. */
  readonly policies: readonly string[];
  /** Policies that could not be evaluated, each with Cedar's words for it; any of them denies. */
  readonly errors: readonly { readonly policy: string; readonly message: string }[];
  /** Why no policy was asked, when none was. */
  readonly reason?: string;
}

/** Policies ready to be asked. */
export interface Engine {
  readonly mentions: Mentions;
  /** Decides a call with these arguments. */
  decide(caller: CallerFacts, entry: EntryFacts, given: ArgumentFacts): Verdict;
  /** Whether some arguments could pass: what a list shows. */
  couldPass(caller: CallerFacts, entry: EntryFacts): Verdict;
  /** Gives the prepared sets back; nothing may be asked any more. */
  close(): void;
}

/**
 * Prepares policies once; nothing of them is parsed per request.
 * @throws GatewayFault PLAN_INVALID when Cedar does not take what was read before
 */
export function createEngine(policies: readonly Policy[], entities: StaticEntities): Engine {
  const mentions = mentionsOf(policies.map(({ json }) => json));
  const place = takePlace();
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const depending = new Set(policies.filter(({ json }) => dependsOnArguments(json)).map(({ id }) => id));
  const calls = `${place} calls`;
  const lists = depending.size === 0 ? calls : `${place} lists`;
  prepare(calls, Object.fromEntries(policies.map(({ id, text }) => [id, text])));
  if (lists !== calls) {
    const forms = policies.map(({ id, text, json }) => [id, depending.has(id) ? listForm(json) : text] as const);
    prepare(lists, Object.fromEntries(forms.flatMap(([id, form]) => (form === undefined ? [] : [[id, form]]))));
  }
  const named = reachableFrom(entities, mentions.entities);
  let isOpen = true;
  const ask = (set: string, caller: CallerFacts, entry: EntryFacts, given: ArgumentFacts): Verdict => {
    if (!isOpen) return CLOSED; // the name of the set may be somebody else's by now
    const action = { type: 'Action', id: entry.question.action };
    const answer = statefulIsAuthorized({
      preparsedPolicySetId: set,
      principal: caller.entity.uid,
      action,
      resource: entry.entity.uid,
      context: { ...caller.claims, ...given.attributes },
      entities: entitiesOf(caller, entry, given, { mentions, named, action: actionEntity(entities, entry, mentions) }),
    });
    if (answer.type === 'failure') {
      const message = quiet(answer.errors[0]?.message ?? 'no answer', '');
      return { isAllowed: false, policies: [], errors: [{ policy: '', message }] };
    }
    const { decision, diagnostics } = answer.response;
    const errors = diagnostics.errors.map(({ policyId, error }) => ({
      policy: policyId,
      message: quiet(error.message, byId.get(policyId)?.text ?? ''),
    }));
    return { isAllowed: decision === 'allow', policies: [...diagnostics.reason].sort(), errors };
  };
  return {
    mentions,
    decide(caller, entry, given) {
      const verdict = ask(calls, caller, entry, given);
      return verdict.errors.length === 0 ? verdict : { ...verdict, isAllowed: false };
    },
    couldPass(caller, entry) {
      const verdict = ask(lists, caller, entry, NO_ARGUMENTS);
      // What depends on arguments may be skipped by a call or not: only the others are certain to fail.
      const certain = verdict.errors.filter(({ policy }) => !depending.has(policy));
      if (certain.length > 0) return { ...verdict, isAllowed: false, errors: certain };
      if (verdict.isAllowed || verdict.policies.length > 0) return { ...verdict, errors: [] };
      const open = verdict.errors.filter(({ policy }) => byId.get(policy)?.json.effect === 'permit');
      return { isAllowed: open.length > 0, policies: open.map(({ policy }) => policy), errors: [] };
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      for (const set of new Set([calls, lists])) prepare(set, {});
      free.push(place);
    },
  };
}

const CLOSED: Verdict = { isAllowed: false, policies: [], errors: [], reason: 'the gateway has stopped' };

/** A form that cannot be written down again is assumed as a whole: a permit of its scope, or no forbid at all. */
function listForm(policy: PolicyJson): string | undefined {
  const form = withUnknownArguments(policy);
  try {
    const written = policyToText(form);
    if (written.type === 'success') return written.text;
  } catch {
    // nested deeper than the way through JSON goes
  }
  if (policy.effect === 'forbid') return undefined;
  const scope = policyToText({ ...policy, conditions: [] });
  return scope.type === 'success' ? scope.text : 'permit(principal, action, resource);';
}

interface Around {
  readonly mentions: Mentions;
  readonly named: StaticEntities;
  readonly action: EntityJson | undefined;
}

/** What the request makes comes last and wins over configured entities of the same uid. */
function entitiesOf(
  caller: CallerFacts,
  entry: EntryFacts,
  { attributes }: ArgumentFacts,
  { named, action }: Around,
): EntityJson[] {
  const { uid, attrs, parents } = entry.entity;
  const resource = { uid, attrs: { ...attrs, ...attributes }, parents };
  if (named.size === 0 && caller.related.size === 0 && action === undefined) return [caller.entity, resource];
  const all = new Map([...named, ...caller.related]);
  for (const made of [action, caller.entity, resource]) {
    if (made !== undefined) all.set(uidOf(made), made);
  }
  return [...all.values()];
}

function uidOf({ uid }: EntityJson): string {
  const { type, id } = '__entity' in uid ? uid.__entity : uid;
  return uidKey(type, id);
}

/** The action with its attribute, where a policy reads it; the groups of actions are the configuration's. */
function actionEntity(entities: StaticEntities, { question }: EntryFacts, mentions: Mentions): EntityJson | undefined {
  const configured = entities.get(uidKey('Action', question.action));
  if (!mentions.attributes.has('operation')) return configured;
  const attrs = { ...configured?.attrs, operation: question.operation };
  return { uid: { type: 'Action', id: question.action }, attrs, parents: configured?.parents ?? [] };
}

/** Cedar quotes values: what does not stand in the policy itself may be anybody's secret. */
function quiet(message: string, policyText: string): string {
  return message.replace(/`([^`]*)`/g, (quoted, inner: string) => (policyText.includes(inner) ? quoted : '`…`'));
}

function prepare(id: string, staticPolicies: Record<string, string>): void {
  const prepared = preparsePolicySet(id, { staticPolicies });
  if (prepared.type === 'success') return;
  throw new GatewayFault('PLAN_INVALID', `authorization/cedar: ${prepared.errors[0]?.message ?? 'policies are wrong'}`);
}

/** Cedar keeps prepared sets under names and forgets none: names are used again, so a reload leaves nothing behind. */
const free: number[] = [];
let places = 0;

function takePlace(): number {
  return free.pop() ?? ++places;
}
