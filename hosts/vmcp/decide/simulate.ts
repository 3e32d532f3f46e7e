import type { Caller, Gateway } from '@toolmgr/core';
import { auditLines, eventOf } from '../audit-files.ts';
import type { SectionedConfig } from '../plan.ts';
import { type AuditedCall, auditedCallOf } from './audited-calls.ts';
import { type Decide, type Decision, withDecisions } from './decider.ts';
import { callerOf, readPeople } from './people.ts';

/** Calls of one caller to one tool that would end in another way, for one reason. */
export interface Change {
  readonly change: 'now refused' | 'now permitted' | 'now fails';
  readonly caller: string;
  readonly tool: string;
  readonly reason?: string;
  /** Policies that decided, as far as the plugins log them. */
  readonly policies: readonly string[];
  count: number;
  /** When the first and the last of them were made; RFC 3339. */
  readonly first: string;
  last: string;
}

/** What a file would decide about the calls of audit files. */
export interface Simulation {
  readonly changes: readonly Change[];
  readonly decided: number;
  /** Calls within a composite tool, which were decided with it. */
  readonly inner: number;
  /** Lines of other events. */
  readonly otherLines: number;
  /** Calls whose arguments are not in the files: they were decided with none. */
  readonly withoutArguments: number;
  /** Callers whose claims are not known: they were decided with `sub` alone. At most {@link MOST_NAMED}. */
  readonly unknownCallers: readonly string[];
}

/**
 * Decides every call of audit files as the gateway of `file` would. Nothing is sent to a backend; rate limits do not count.
 * @throws UsageError for an unreadable file, GatewayFault as a start
 */
export function simulate(
  read: SectionedConfig,
  file: string,
  { audits, people: peopleFile }: { readonly audits: readonly string[]; readonly people?: string | undefined },
): Promise<Simulation> {
  return withDecisions(read, file, 'deciding', async (decide, gateway) => {
    const people = peopleFile === undefined ? [] : await readPeople(peopleFile);
    const known = new Map(people.map((person) => [person.subject, person]));
    const counts = { decided: 0, inner: 0, otherLines: 0, withoutArguments: 0 };
    const changes = new Map<string, Change>();
    const unknown = new Set<string>();
    const decisions = createDecided(decide);
    for await (const line of auditLines(audits)) {
      const event = eventOf(line);
      const call = event === undefined ? undefined : auditedCallOf(event);
      if (call === undefined) counts.otherLines += 1;
      else if (isPartOfAnother(gateway, call)) counts.inner += 1;
      else {
        const { subject } = call;
        if (subject !== undefined && !known.has(subject) && unknown.size < MOST_NAMED) unknown.add(subject);
        if (call.arguments === undefined) counts.withoutArguments += 1;
        counts.decided += 1;
        const caller = subject === undefined ? undefined : (known.get(subject) ?? callerOf({ sub: subject }, subject));
        addChange(changes, call, await decisions(call, caller));
      }
    }
    return { changes: [...changes.values()].sort(bySize), ...counts, unknownCallers: [...unknown] };
  });
}

/** Names of callers without claims in one report. */
export const MOST_NAMED = 20;
/** Decisions that are kept for equal calls. */
const MOST_KEPT = 20_000;
const MAX_KEY_CHARACTERS = 1_024;

/** Decides each call once, and equal ones not again. */
function createDecided(decide: Decide): (call: AuditedCall, caller: Caller | undefined) => Promise<Decision> {
  const kept = new Map<string, Decision>();
  return async ({ tool, arguments: given = {} }, caller) => {
    const key = JSON.stringify([caller?.key, tool, given]);
    const before = kept.get(key);
    if (before !== undefined) return before;
    const decision = await decide(tool, given, caller);
    if (kept.size < MOST_KEPT && key.length <= MAX_KEY_CHARACTERS) kept.set(key, decision);
    return decision;
  };
}

/** Calls of dispatchers are decided by themselves; steps of a composite tool are not. */
function isPartOfAnother(gateway: Gateway, { parent }: AuditedCall): boolean {
  return parent !== undefined && gateway.catalog().findForInnerCall(parent)?.isDispatcher !== true;
}

function addChange(changes: Map<string, Change>, call: AuditedCall, now: Decision): void {
  const change = changeOf(call.was, now.decision);
  if (change === undefined) return;
  const policies = [
    ...new Set(now.told.flatMap(({ fields }) => (Array.isArray(fields.policies) ? fields.policies : []))),
  ];
  const { subject: caller = 'anonymous', tool, at } = call;
  const key = JSON.stringify([change, caller, tool, now.reason, policies]);
  const before = changes.get(key);
  if (before !== undefined) {
    before.count += 1;
    before.last = at;
    return;
  }
  const reason = now.reason === undefined ? {} : { reason: now.reason };
  changes.set(key, { change, caller, tool, ...reason, policies: policies.map(String), count: 1, first: at, last: at });
}

function changeOf(was: AuditedCall['was'], now: Decision['decision']): Change['change'] | undefined {
  if (now === 'refused') return was === 'refused' ? undefined : 'now refused';
  if (now === 'permitted') return was === 'refused' ? 'now permitted' : undefined;
  return was === 'permitted' ? 'now fails' : undefined;
}

function bySize(a: Change, b: Change): number {
  return b.count - a.count;
}

/** The changes as text lines. */
export function simulationLines({ changes }: Simulation): string[] {
  return changes.map(({ change, count, caller, tool, reason, policies }) => {
    const why = [...(reason === undefined ? [] : [reason]), ...policies].join(', ');
    return `${change.padEnd(13)} ${String(count).padStart(5)}  ${caller}  ${tool}${why === '' ? '' : `  (${why})`}`;
  });
}

/** What was decided and what was not, as text lines. */
export function noteLines(simulation: Simulation): string[] {
  const { changes, decided, inner, otherLines, withoutArguments, unknownCallers } = simulation;
  const changed = changes.reduce((sum, { count }) => sum + count, 0);
  const more = unknownCallers.length < MOST_NAMED ? '' : ' and others';
  return [
    `${decided} calls decided, ${changed} would end in another way`,
    ...(inner === 0 ? [] : [`${inner} calls within composite tools were not decided by themselves`]),
    ...(otherLines === 0 ? [] : [`${otherLines} lines are not calls of tools`]),
    ...(withoutArguments === 0
      ? []
      : [`${withoutArguments} calls were decided without arguments, which audit.includeRequestData writes`]),
    ...(unknownCallers.length === 0
      ? []
      : [`decided without their claims, which --people gives: ${unknownCallers.join(', ')}${more}`]),
  ];
}
