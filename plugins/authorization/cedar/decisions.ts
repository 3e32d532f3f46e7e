import type { Call, Caller, CatalogEntry } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import { createArgumentFacts, NO_ARGUMENTS } from './argument-facts.ts';
import { type CallerFacts, createCallerFacts } from './caller-facts.ts';
import type { CedarConfig } from './config.ts';
import type { Engine, Verdict } from './engine.ts';
import { createEntryFacts, type EntryFacts } from './entry-facts.ts';
import { explicitForbids } from './explicit-forbids.ts';
import type { Policy } from './parse-policies.ts';
import type { StaticEntities } from './static-entities.ts';

/** Cached decisions and characters of their keys, about 20 MB. */
const MAX_CACHED = 50_000;
const MAX_CACHED_CHARACTERS = 8_388_608;
/** Longer keys are not cached: large arguments rarely repeat. */
const MAX_KEY_CHARACTERS = 4_096;

/** Decisions for calls and lists from one set of policies. */
export interface Decisions {
  /** `caller`: with the claims that policies read. */
  ofCall(call: Call, caller?: Caller): Verdict;
  /** Whether a caller could use an entry with some arguments. */
  ofEntry(entry: CatalogEntry, caller: Caller): Verdict;
  /** The cache key of a caller: equal for callers with equal lists. */
  keyOf(caller: Caller): string;
  /** Number of evaluations that were not cached. */
  readonly evaluations: number;
}

/** Creates cached decisions. The cache key has only data that policies read. */
export function createDecisions(
  engine: Engine,
  config: CedarConfig,
  entities: StaticEntities,
  gatewayName: string,
  policies: readonly Policy[],
): Decisions {
  const { references } = engine;
  const callerFacts = createCallerFacts(config, references, entities);
  const entryFacts = createEntryFacts(gatewayName, references);
  const argumentFacts = createArgumentFacts(policies);
  const forbidsOf = explicitForbids(policies, gatewayName);
  const cache = new LRUCache<string, Verdict>({
    max: MAX_CACHED,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_verdict, key) => key.length,
  });
  let evaluations = 0;
  const cached = (key: string, evaluate: () => Verdict): Verdict => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    evaluations++;
    const verdict = evaluate();
    if (key.length <= MAX_KEY_CHARACTERS) cache.set(key, verdict);
    return verdict;
  };

  const couldPass = (caller: CallerFacts, entry: EntryFacts): Verdict =>
    undecidable(caller, entry) ?? cached(`? ${caller.key} ${entry.key}`, () => engine.couldPass(caller, entry));

  /** Denies when a policy that may apply cannot decide about the arguments; `only`: no other policies count. */
  const decide = (
    caller: CallerFacts,
    entry: EntryFacts,
    call: Call | undefined,
    only?: ReadonlySet<string>,
  ): Verdict => {
    const before = undecidable(caller, entry);
    if (before !== undefined) return before;
    const given =
      argumentFacts === undefined || call === undefined ? NO_ARGUMENTS : argumentFacts(call.arguments, caller.claims);
    if (given.undecidable !== undefined) {
      const { policies: applying } = cached(`~ ${caller.key} ${entry.key}`, () => engine.mayApply(caller, entry));
      const lost = applying.filter((id) => given.undecidable?.has(id) && only?.has(id) !== false);
      const [first] = lost;
      if (first !== undefined) return { ...denied(given.undecidable.get(first) ?? ''), policies: lost };
    }
    const argumentKey = given === NO_ARGUMENTS ? '' : JSON.stringify(given.attributes);
    return cached(`! ${caller.key} ${entry.key} ${argumentKey}`, () => engine.decide(caller, entry, given));
  };

  /** Resources have no arguments, so a list and a read have the same decision. */
  const ofEntry = (facts: CallerFacts, entry: EntryFacts): Verdict => {
    const isCertain = argumentFacts === undefined || entry.requestKind.feature === 'resource';
    return isCertain ? decide(facts, entry, undefined) : couldPass(facts, entry);
  };

  /** A dispatcher is allowed unless a policy forbids it explicitly. */
  const ofDispatcher = (entry: CatalogEntry, by: Caller, call: Call | undefined): Verdict => {
    const forbids = forbidsOf(entry.key);
    if (forbids.size === 0) return ALLOWED;
    const caller = callerFacts(by);
    const facts = entryFacts(entry);
    const verdict = call === undefined ? ofEntry(caller, facts) : decide(caller, facts, call, forbids);
    if (verdict.reason !== undefined) return verdict;
    const decided = verdict.isAllowed ? [] : verdict.policies.filter((id) => forbids.has(id));
    const errors = verdict.errors.filter(({ policy }) => forbids.has(policy));
    return decided.length + errors.length === 0 ? ALLOWED : { isAllowed: false, policies: decided, errors };
  };

  return {
    ofCall(call, by = call.caller) {
      if (call.target.isDispatcher) return ofDispatcher(call.target, by, call);
      const caller = callerFacts(by);
      const entry = entryFacts(call.target, call.name);
      const hasArguments = call.method === 'tools/call' || call.method === 'prompts/get';
      return hasArguments ? decide(caller, entry, call) : ofEntry(caller, entry);
    },
    ofEntry: (entry, caller) =>
      entry.isDispatcher ? ofDispatcher(entry, caller, undefined) : ofEntry(callerFacts(caller), entryFacts(entry)),
    keyOf: (caller) => callerFacts(caller).key,
    get evaluations() {
      return evaluations;
    },
  };
}

const ALLOWED: Verdict = { isAllowed: true, policies: [], errors: [] };

function undecidable(caller: CallerFacts, entry: EntryFacts): Verdict | undefined {
  const reason = caller.undecidable ?? entry.undecidable;
  return reason === undefined ? undefined : denied(reason);
}

function denied(reason: string): Verdict {
  return { isAllowed: false, policies: [], errors: [], reason };
}
