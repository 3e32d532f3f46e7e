import {
  type Call,
  type Caller,
  type CallResult,
  type CatalogEntry,
  type Core,
  type Dispatch,
  GatewayFault,
  type Refusal,
  UserActionRequired,
} from '@toolmgr/core';
import type { ConfiguredName } from '@toolmgr/plugins/kit/settings';
import { type Approvals, createApprovals } from './approvals.ts';
import { argumentTable } from './argument-table.ts';
import type { CedarConfig } from './config.ts';
import { createDecisionLog } from './decision-log.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { createEngine, type Engine } from './engine.ts';
import { REQUEST_KINDS } from './entry-facts.ts';
import { MAX_VALUE_BYTES } from './evaluation-budget.ts';
import { createFilter, type Filter } from './list-filter.ts';
import { type Policy, readPolicies } from './parse-policies.ts';
import { referencesOf, unguarded } from './references.ts';
import { readEntities, type StaticEntities } from './static-entities.ts';
import { createUpstreamClaims, type UpstreamClaims } from './upstream-claims.ts';

/** The implementation of the plugin's hooks. */
export interface Authorizer {
  refusal(call: Call): Refusal | undefined;
  /** The same with the claims of an upstream token, which are read first where they are not here. */
  refusalByUpstream(call: Call): Promise<Refusal | undefined>;
  /** Makes a call, with the approval of a person where policies require it. */
  approved(call: Call, dispatch: Dispatch): Promise<CallResult>;
  filtered(entries: readonly CatalogEntry[], caller: Caller): Promise<readonly CatalogEntry[]>;
  /** Tools and prompts that policies name; empty before the start. */
  namesInPolicies(): readonly ConfiguredName[];
  /** Parses the policies, once. */
  start(): void;
  stop(): void;
}

/** Creates the authorizer of one gateway, which works after `start`. */
export function authorizer(core: Core, config: CedarConfig): Authorizer {
  const { primaryUpstreamProvider: provider } = config;
  const log = createDecisionLog(core, provider === '' ? 'issued token' : `upstream provider ${provider}`);
  let namesInPolicies: readonly ConfiguredName[] = [];
  let running: Running | undefined;
  const started = () => {
    if (running === undefined)
      throw new GatewayFault('PLUGIN_FAILED', 'authorization/cedar has not started, or has stopped');
    return running;
  };
  const decided = (call: Call, caller: Caller): Refusal | undefined => {
    const verdict = started().decisions.ofCall(call, caller);
    log.logCall(call, verdict);
    return verdict.isAllowed ? undefined : deniedCall(call);
  };
  return {
    refusal: (call) => decided(call, call.caller),
    async refusalByUpstream(call) {
      const { claims } = started();
      if (claims === undefined) return decided(call, call.caller);
      try {
        return decided(call, claims.known(call.caller) ?? (await claims.read(call.caller, call.signal)));
      } catch (cause) {
        if (call.cancel.aborted) throw cause;
        log.unreadable(call.caller, cause);
        if (cause instanceof UserActionRequired) throw cause; // the answer is the link
        return isForNow(cause) ? UNDECIDED : deniedCall(call);
      }
    },
    approved(call, dispatch) {
      const { approvals, claims, decisions } = started();
      const by = (caller: Caller): Promise<CallResult> =>
        approvals.concern(call, caller)
          ? approvals.dispatch(call, decisions.ofCall(call, caller), dispatch)
          : dispatch(call);
      if (claims === undefined) return by(call.caller);
      const known = claims.known(call.caller);
      return known === undefined ? claims.read(call.caller, call.signal).then(by) : by(known);
    },
    async filtered(entries, caller) {
      const { claims, filter } = started();
      if (claims === undefined) return filter(entries, caller);
      let reader: Caller;
      try {
        reader = claims.known(caller) ?? (await claims.read(caller, AbortSignal.timeout(READ_MS)));
      } catch (cause) {
        log.unreadable(caller, cause);
        // an error, and not an empty list that a client keeps
        if (cause instanceof UserActionRequired || isForNow(cause)) throw cause;
        return [];
      }
      return filter(entries, reader);
    },
    namesInPolicies: () => namesInPolicies,
    start() {
      const { entities, policies } = parseConfig(config);
      namesInPolicies = policies.flatMap(namesIn);
      warnOfPitfalls(core.log, policies, entities);
      const engine = createEngine(policies, entities);
      const decisions = createDecisions(engine, config, entities, core.server.name, policies);
      const claims = provider === '' ? undefined : createUpstreamClaims(core, provider);
      const decisionsOf = (some: readonly Policy[]) => {
        const prepared = createEngine(some, entities);
        const made = createDecisions(prepared, config, entities, core.server.name, some);
        return { ...made, close: () => prepared.close() };
      };
      const approvals = createApprovals(core, 'authorization/cedar', policies, decisionsOf);
      running = { engine, approvals, decisions, filter: createFilter(decisions, log.filteredOut), claims };
    },
    stop() {
      running?.engine.close();
      running?.approvals.close();
      running = undefined; // drops cached decisions
    },
  };
}

interface Running {
  readonly engine: Engine;
  readonly approvals: Approvals;
  readonly decisions: Decisions;
  readonly filter: Filter;
  readonly claims: UpstreamClaims | undefined;
}

const READ_MS = 30_000; // for the claims of a list; a call ends with its own signal

/** The claims may be readable a moment later. */
function isForNow(cause: unknown): boolean {
  return cause instanceof GatewayFault && cause.status === 503;
}

const UNDECIDED: Refusal = {
  refused: true,
  status: 503,
  reason: 'the claims for authorization cannot be read now; try again later',
  retryAfterMs: 5_000,
};

function deniedCall({ target: { kind } }: Call): Refusal {
  return REFUSALS[REQUEST_KINDS[kind].operation];
}

/** Reveals only the kind; the log names the policy. */
const REFUSALS = {
  call: { refused: true, status: 403, reason: 'call denied by authorization policy' },
  get: { refused: true, status: 403, reason: 'prompt denied by authorization policy' },
  read: { refused: true, status: 403, reason: 'read denied by authorization policy' },
} as const satisfies Record<string, Refusal>;

/** Parses again, because a plan may bypass the schema. */
function parseConfig({ policies: texts, entitiesJson }: CedarConfig) {
  const read = readEntities(entitiesJson);
  if ('message' in read) throw new GatewayFault('PLAN_INVALID', `authorization/cedar: entitiesJson: ${read.message}`);
  const { policies, problems } = readPolicies(texts, read.entities);
  const [problem] = problems;
  if (problem === undefined) return { entities: read.entities, policies };
  throw new GatewayFault('PLAN_INVALID', `authorization/cedar: policies[${problem.index}]: ${problem.message}`);
}

function namesIn({ id, json }: Policy): ConfiguredName[] {
  return [...referencesOf([json]).entities].flatMap((key) => {
    const [, type, name] = NAMED.exec(key) ?? [];
    const kind = type === 'Tool' ? 'tool' : 'prompt';
    return name === undefined
      ? []
      : [{ place: `authorization/cedar: ${id}`, kind, name: JSON.parse(name) as string } as const];
  });
}

/** Source: {@link uidKey}. */
const NAMED = /^(Tool|Prompt)::(".*")$/s;

/** Warns of valid policies and entities that probably do not work as intended. */
function warnOfPitfalls(log: Core['log'], policies: readonly Policy[], entities: StaticEntities): void {
  for (const policy of policies.filter(({ json }) => json.annotations?.approval)) {
    const dispatchers = namesIn(policy).filter(({ name }) => DISPATCHERS.has(name));
    if (dispatchers.length === 0) continue;
    log.warn('a policy asks for approval of a tool that only calls other tools: name those tools', {
      policy: policy.id,
    });
  }
  for (const { id, json } of policies) {
    const attributes = unguarded(json);
    if (attributes.length === 0) continue;
    log.warn('a policy reads attributes that may be absent; then it fails and denies: check with `has` first', {
      policy: id,
      attributes,
    });
  }
  const limited = argumentTable(policies).arguments.filter(({ maxBytes }) => maxBytes < MAX_VALUE_BYTES);
  if (limited.length > 0) {
    log.warn('so many policies or patterns read these arguments that larger arguments are denied', {
      largest: Object.fromEntries(limited.slice(0, MAX_NAMED).map(({ name, maxBytes }) => [name, maxBytes])),
    });
  }
  const hidden = [...entities.keys()].filter((key) => /^(Client|Tool|Prompt|Resource)::/.test(key));
  if (hidden.length === 0) return;
  log.warn('entitiesJson has entities that every request overrides', {
    entities: hidden.slice(0, MAX_NAMED),
    count: hidden.length,
  });
}

/** Tools that need no permit: the calls that they make are authorized. */
const DISPATCHERS: ReadonlySet<string> = new Set(['call_tool', 'execute_tool_script', 'find_tool']);
const MAX_NAMED = 20; // in one log line
