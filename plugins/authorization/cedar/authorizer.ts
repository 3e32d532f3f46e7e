import { type Call, type Caller, type CatalogEntry, type Core, GatewayFault, type Refusal } from '@toolmgr/core';
import type { WantedName } from '../../shared/absent-names.ts';
import type { CedarConfig } from './config.ts';
import { createDecisionLog } from './decision-log.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { createEngine, type Engine } from './engine.ts';
import { QUESTIONS } from './entry-facts.ts';
import { mentionsOf, unguarded } from './expression.ts';
import { createFilter, type Filter } from './lists.ts';
import { type Policy, readPolicies } from './policies.ts';
import { readEntities, type StaticEntities } from './static-entities.ts';

/** What the hooks of a gateway ask. */
export interface Authorizer {
  refusal(call: Call): Refusal | undefined;
  shown(entries: readonly CatalogEntry[], caller: Caller): Promise<readonly CatalogEntry[]>;
  /** Tools and prompts that policies speak of; none before the start. */
  named(): readonly WantedName[];
  /** Parses the policies, once. */
  start(): void;
  stop(): void;
}

/** Makes the authorizer of one gateway; it decides after `start`. */
export function authorizer(core: Core, config: CedarConfig): Authorizer {
  const log = createDecisionLog(core);
  let named: readonly WantedName[] = [];
  let open: { readonly engine: Engine; readonly decisions: Decisions; readonly filter: Filter } | undefined;
  const started = () => {
    if (open === undefined)
      throw new GatewayFault('PLUGIN_FAILED', 'authorization/cedar has not started, or has stopped');
    return open;
  };
  return {
    refusal(call) {
      const verdict = started().decisions.ofCall(call);
      log.called(call, verdict);
      return verdict.isAllowed ? undefined : REFUSALS[QUESTIONS[call.target.kind].operation];
    },
    shown: (entries, caller) => started().filter(entries, caller),
    named: () => named,
    start() {
      const { entities, policies } = readAll(config);
      named = policies.flatMap(namesIn);
      warnOfHazards(core.log, policies, entities);
      const engine = createEngine(policies, entities);
      const decisions = createDecisions(engine, config, entities, core.server.name, policies);
      open = { engine, decisions, filter: createFilter(decisions, log.leftOut) };
    },
    stop() {
      open?.engine.close();
      open = undefined; // what is kept would still answer
    },
  };
}

/** The kind only: which policy said no is for the log. */
const REFUSALS = {
  call: { refused: true, status: 403, reason: 'call denied by authorization policy' },
  get: { refused: true, status: 403, reason: 'prompt denied by authorization policy' },
  read: { refused: true, status: 403, reason: 'read denied by authorization policy' },
} as const satisfies Record<string, Refusal>;

/** The schema has read both before; a plan that was made without it hears of it here. */
function readAll({ policies: texts, entitiesJson }: CedarConfig) {
  const read = readEntities(entitiesJson);
  if ('message' in read) throw new GatewayFault('PLAN_INVALID', `authorization/cedar: entitiesJson: ${read.message}`);
  const { policies, problems } = readPolicies(texts, read.entities);
  const [problem] = problems;
  if (problem === undefined) return { entities: read.entities, policies };
  throw new GatewayFault('PLAN_INVALID', `authorization/cedar: policies[${problem.index}]: ${problem.message}`);
}

function namesIn({ id, json }: Policy): WantedName[] {
  return [...mentionsOf([json]).entities].flatMap((key) => {
    const [, type, name] = NAMED.exec(key) ?? [];
    const kind = type === 'Tool' ? 'tool' : 'prompt';
    return name === undefined
      ? []
      : [{ place: `authorization/cedar: ${id}`, kind, name: JSON.parse(name) as string } as const];
  });
}

/** Source: {@link uidKey}. */
const NAMED = /^(Tool|Prompt)::(".*")$/s;

/** What works, and probably not as its author thinks. */
function warnOfHazards(log: Core['log'], policies: readonly Policy[], entities: StaticEntities): void {
  for (const { id, json } of policies) {
    const attributes = unguarded(json);
    if (attributes.length === 0) continue;
    log.warn('a policy reads attributes that may be absent; then it fails and denies: ask with `has` first', {
      policy: id,
      attributes,
    });
  }
  const hidden = [...entities.keys()].filter((key) => /^(Client|Tool|Prompt|Resource)::/.test(key));
  if (hidden.length === 0) return;
  log.warn('entitiesJson has entities that requests make themselves and win over', {
    entities: hidden.slice(0, MAX_NAMED),
    count: hidden.length,
  });
}

const MAX_NAMED = 20; // in one log line
