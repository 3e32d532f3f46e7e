import {
  type EntityJson,
  type PolicyJson,
  policyToText,
  preparsePolicySet,
  statefulIsAuthorized,
} from '@cedar-policy/cedar-wasm/nodejs';
import { GatewayFault } from '@toolmgr/core';
import { type ArgumentFacts, NO_ARGUMENTS } from './argument-facts.ts';
import { dependsOnArguments, withUnknownArguments } from './assume-arguments.ts';
import type { CallerFacts } from './caller-facts.ts';
import type { EntryFacts } from './entry-facts.ts';
import type { Policy } from './parse-policies.ts';
import { type References, referencesOf, uidKey } from './references.ts';
import { reachableFrom, type StaticEntities } from './static-entities.ts';

/** The result of one evaluation. */
export interface Verdict {
  readonly isAllowed: boolean;
  /** Ids of the policies that decided; empty when none permitted. */
  readonly policies: readonly string[];
  /** Policies that failed, with Cedar's messages; any of them denies. */
  readonly errors: readonly { readonly policy: string; readonly message: string }[];
  /** Why policies were not evaluated. */
  readonly reason?: string;
}

/** Prepared policies. */
export interface Engine {
  readonly references: References;
  /** Decides a call with these arguments. */
  decide(caller: CallerFacts, entry: EntryFacts, given: ArgumentFacts): Verdict;
  /** The policies that may apply with some arguments, of those that read any. */
  mayApply(caller: CallerFacts, entry: EntryFacts): Verdict;
  /** Whether some arguments could be permitted, for lists. */
  couldPass(caller: CallerFacts, entry: EntryFacts): Verdict;
  /** Releases the prepared sets. */
  close(): void;
}

/**
 * Prepares policies, so that nothing is parsed per request.
 * @throws GatewayFault PLAN_INVALID when Cedar rejects the policies
 */
export function createEngine(policies: readonly Policy[], entities: StaticEntities): Engine {
  const references = referencesOf(policies.map(({ json }) => json));
  const setNumber = takeSetNumber();
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const argumentDependent = new Set(policies.filter(({ json }) => dependsOnArguments(json)).map(({ id }) => id));
  const calls = `${setNumber} calls`;
  const lists = argumentDependent.size === 0 ? calls : `${setNumber} lists`;
  const applying = `${setNumber} applying`;
  prepare(calls, Object.fromEntries(policies.map(({ id, text }) => [id, text])));
  if (lists !== calls) {
    const forms = policies.map(
      ({ id, text, json }) => [id, argumentDependent.has(id) ? listForm(json) : text] as const,
    );
    prepare(lists, Object.fromEntries(forms.flatMap(([id, form]) => (form === undefined ? [] : [[id, form]]))));
    const reading = policies.filter(({ id }) => argumentDependent.has(id));
    prepare(
      applying,
      Object.fromEntries(reading.map(({ id, json }) => [id, listForm({ ...json, effect: 'permit' }) ?? PERMIT_ALL])),
    );
  }
  const named = reachableFrom(entities, references.entities);
  let isOpen = true;
  const evaluate = (set: string, caller: CallerFacts, entry: EntryFacts, given: ArgumentFacts): Verdict => {
    if (!isOpen) return CLOSED; // another engine may use the number of this set
    const action = { type: 'Action', id: entry.requestKind.action };
    const answer = statefulIsAuthorized({
      preparsedPolicySetId: set,
      principal: caller.entity.uid,
      action,
      resource: entry.entity.uid,
      context: { ...caller.claims, ...given.attributes },
      entities: entitiesOf(caller, entry, given, {
        references,
        named,
        action: actionEntity(entities, entry, references),
      }),
    });
    if (answer.type === 'failure') {
      const message = withoutValues(answer.errors[0]?.message ?? 'no answer', '');
      return { isAllowed: false, policies: [], errors: [{ policy: '', message }] };
    }
    const { decision, diagnostics } = answer.response;
    const errors = diagnostics.errors.map(({ policyId, error }) => ({
      policy: policyId,
      message: withoutValues(error.message, byId.get(policyId)?.text ?? ''),
    }));
    return { isAllowed: decision === 'allow', policies: [...diagnostics.reason].sort(), errors };
  };
  return {
    references,
    decide(caller, entry, given) {
      const verdict = evaluate(calls, caller, entry, given);
      return verdict.errors.length === 0 ? verdict : { ...verdict, isAllowed: false };
    },
    mayApply(caller, entry) {
      const verdict = evaluate(applying, caller, entry, NO_ARGUMENTS);
      const failed = verdict.errors.map(({ policy }) => policy);
      return { ...verdict, policies: failed.includes('') ? [...argumentDependent] : [...verdict.policies, ...failed] };
    },
    couldPass(caller, entry) {
      const verdict = evaluate(lists, caller, entry, NO_ARGUMENTS);
      // A call may avoid an error that depends on arguments; other errors are certain.
      const certain = verdict.errors.filter(({ policy }) => !argumentDependent.has(policy));
      if (certain.length > 0) return { ...verdict, isAllowed: false, errors: certain };
      if (verdict.isAllowed || verdict.policies.length > 0) return { ...verdict, errors: [] };
      const open = verdict.errors.filter(({ policy }) => byId.get(policy)?.json.effect === 'permit');
      return { isAllowed: open.length > 0, policies: open.map(({ policy }) => policy), errors: [] };
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      for (const set of new Set([calls, lists, applying])) prepare(set, {});
      freeSetNumbers.push(setNumber);
    },
  };
}

const CLOSED: Verdict = { isAllowed: false, policies: [], errors: [], reason: 'the gateway has stopped' };

/** A form without a text representation is replaced: a permit by its scope, a forbid by nothing. */
function listForm(policy: PolicyJson): string | undefined {
  const form = withUnknownArguments(policy);
  try {
    const written = policyToText(form);
    if (written.type === 'success') return written.text;
  } catch {
    // nested deeper than Cedar's JSON format allows
  }
  if (policy.effect === 'forbid') return undefined;
  const scope = policyToText({ ...policy, conditions: [] });
  return scope.type === 'success' ? scope.text : PERMIT_ALL;
}

const PERMIT_ALL = 'permit(principal, action, resource);';

interface RelatedEntities {
  readonly references: References;
  readonly named: StaticEntities;
  readonly action: EntityJson | undefined;
}

/** Entities of the request override configured entities of the same uid. */
function entitiesOf(
  caller: CallerFacts,
  entry: EntryFacts,
  { attributes }: ArgumentFacts,
  { named, action }: RelatedEntities,
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

/** The action with the attribute `operation` when a policy reads it; its parents are configured. */
function actionEntity(
  entities: StaticEntities,
  { requestKind }: EntryFacts,
  references: References,
): EntityJson | undefined {
  const configured = entities.get(uidKey('Action', requestKind.action));
  if (!references.attributes.has('operation')) return configured;
  const attrs = { ...configured?.attrs, operation: requestKind.operation };
  return { uid: { type: 'Action', id: requestKind.action }, attrs, parents: configured?.parents ?? [] };
}

/** Cedar quotes values in messages; values that are not in the policy may be secrets. */
function withoutValues(message: string, policyText: string): string {
  return message.replace(/`([^`]*)`/g, (quoted, inner: string) => (policyText.includes(inner) ? quoted : '`…`'));
}

function prepare(id: string, staticPolicies: Record<string, string>): void {
  const prepared = preparsePolicySet(id, { staticPolicies });
  if (prepared.type === 'success') return;
  throw new GatewayFault('PLAN_INVALID', `authorization/cedar: ${prepared.errors[0]?.message ?? 'policies are wrong'}`);
}

/** Cedar keeps prepared sets by name for ever, so names are reused; otherwise every reload would leak memory. */
const freeSetNumbers: number[] = [];
let lastSetNumber = 0;

function takeSetNumber(): number {
  return freeSetNumbers.pop() ?? ++lastSetNumber;
}
