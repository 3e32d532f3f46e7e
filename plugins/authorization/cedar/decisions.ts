import type { Call, Caller, CatalogEntry } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import { createArgumentFacts, NO_ARGUMENTS } from './argument-facts.ts';
import { type CallerFacts, createCallerFacts } from './caller-facts.ts';
import type { CedarConfig } from './config.ts';
import type { Engine, Verdict } from './engine.ts';
import { createEntryFacts, type EntryFacts } from './entry-facts.ts';
import { explicitForbids } from './explicit-forbids.ts';
import type { Policy } from './policies.ts';
import type { StaticEntities } from './static-entities.ts';

/** Decisions that are kept, and characters of their keys: some 20 MB when full. */
const KEPT = 50_000;
const KEPT_CHARACTERS = 8_388_608;
/** A longer key is not kept: it holds large arguments, and nobody asks the same twice. */
const KEY_CHARACTERS = 4_096;

/** Answers for calls and for lists, from one set of policies. */
export interface Decisions {
  ofCall(call: Call): Verdict;
  /** Whether a caller could use an entry with some arguments. */
  ofEntry(entry: CatalogEntry, caller: Caller): Verdict;
  /** What of a caller policies can see: the same for callers whose lists are the same. */
  keyOf(caller: Caller): string;
  /** How many questions policies were asked, rather than answered from what is kept. */
  readonly asked: number;
}

/** Makes decisions over an engine. What policies cannot see is not part of the key that an answer is kept under. */
export function createDecisions(
  engine: Engine,
  config: CedarConfig,
  entities: StaticEntities,
  gatewayName: string,
  policies: readonly Policy[] = [],
): Decisions {
  const { mentions } = engine;
  const callerFacts = createCallerFacts(config, mentions, entities);
  const entryFacts = createEntryFacts(gatewayName, mentions);
  const argumentFacts = createArgumentFacts(mentions);
  const forbidsOf = explicitForbids(policies, gatewayName);
  const kept = new LRUCache<string, Verdict>({
    max: KEPT,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: (_verdict, key) => key.length,
  });
  let asked = 0;
  const answer = (key: string, ask: () => Verdict): Verdict => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    asked++;
    const verdict = ask();
    if (key.length <= KEY_CHARACTERS) kept.set(key, verdict);
    return verdict;
  };

  const couldPass = (caller: CallerFacts, entry: EntryFacts): Verdict =>
    undecidable(caller, entry) ?? answer(`? ${caller.key} ${entry.key}`, () => engine.couldPass(caller, entry));

  const decide = (caller: CallerFacts, entry: EntryFacts, call: Call | undefined): Verdict => {
    const before = undecidable(caller, entry);
    if (before !== undefined) return before;
    const given = argumentFacts === undefined || call === undefined ? NO_ARGUMENTS : argumentFacts(call.arguments);
    if (given.undecidable !== undefined) return denied(given.undecidable);
    const words = given === NO_ARGUMENTS ? '' : JSON.stringify(given.attributes);
    return answer(`! ${caller.key} ${entry.key} ${words}`, () => engine.decide(caller, entry, given));
  };

  /** Resources take no arguments: what a list shows of them is what reading them comes to. */
  const ofEntry = (facts: CallerFacts, entry: EntryFacts): Verdict => {
    const isCertain = argumentFacts === undefined || entry.question.feature === 'resource';
    return isCertain ? decide(facts, entry, undefined) : couldPass(facts, entry);
  };

  /** What only leads to others is allowed by the feature that offers it, unless a policy forbids it by name. */
  const ofDispatcher = (entry: CatalogEntry, by: Caller, call: Call | undefined): Verdict => {
    const forbids = forbidsOf(entry.key);
    if (forbids.size === 0) return ALLOWED;
    const caller = callerFacts(by);
    const facts = entryFacts(entry);
    const verdict = call === undefined ? ofEntry(caller, facts) : decide(caller, facts, call);
    if (verdict.reason !== undefined) return verdict;
    const decided = verdict.isAllowed ? [] : verdict.policies.filter((id) => forbids.has(id));
    const errors = verdict.errors.filter(({ policy }) => forbids.has(policy));
    return decided.length + errors.length === 0 ? ALLOWED : { isAllowed: false, policies: decided, errors };
  };

  return {
    ofCall(call) {
      if (call.target.isDispatcher) return ofDispatcher(call.target, call.caller, call);
      const caller = callerFacts(call.caller);
      const entry = entryFacts(call.target, call.name);
      const hasArguments = call.method === 'tools/call' || call.method === 'prompts/get';
      return hasArguments ? decide(caller, entry, call) : ofEntry(caller, entry);
    },
    ofEntry: (entry, caller) =>
      entry.isDispatcher ? ofDispatcher(entry, caller, undefined) : ofEntry(callerFacts(caller), entryFacts(entry)),
    keyOf: (caller) => callerFacts(caller).key,
    get asked() {
      return asked;
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
