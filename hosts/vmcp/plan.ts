import type { FileFacts, PlanInput, PlanPart, StrategyUse } from '@toolmgr/core';
import { z } from 'zod';
import { choicesOf, defaultOf, strategyUse } from './choices.ts';
import type { VmcpConfig } from './config-schema.ts';
import { factsOf } from './facts.ts';
import { givenKeys } from './host-keys.ts';
import {
  type Choice,
  hasKey,
  isIn,
  type KeyedSection,
  lastKey,
  type Section,
  STRATEGIES,
  valueAt,
} from './sections.ts';

/** A file and the sections that read it. */
export interface SectionedConfig {
  readonly config: VmcpConfig;
  readonly sections: readonly Section[];
}

/** The file for a command that does not serve, without the sections that the command does not need. */
export function leftFor(
  command: 'listing' | 'running' | 'deciding',
  { config, sections }: SectionedConfig,
): SectionedConfig {
  return { config, sections: sections.filter(({ leftOutOf = [] }) => !leftOutOf.includes(command)) };
}

/** Settings from flags of the command line. */
export interface PlanFlags {
  /** Idle time of a client session; 0 means the default. */
  readonly sessionTtlMs?: number;
  readonly memoryBudgetBytes?: number;
  /** Sections with a switch that a flag turns on. */
  readonly switchedOn?: readonly string[];
  /** Secret for sealing request states, the same on all replicas; `TOOLMGR_STATE_KEY`. */
  readonly stateKey?: string;
  /** The address to bind is a loopback address (default). */
  readonly loopback?: boolean;
}

/** The plan of a vmcp file, with its plugins in the order of the sections. Pure. */
export function planFromConfig({ config, sections }: SectionedConfig, flags: PlanFlags = {}): PlanInput {
  const { sessionTtlMs, memoryBudgetBytes } = flags;
  const limits = {
    ...(sessionTtlMs ? { sessionIdleMs: sessionTtlMs } : {}),
    ...(memoryBudgetBytes === undefined ? {} : { memoryBudgetBytes }),
  };
  const endpoint = flags.loopback === false ? { loopback: false } : {};
  const given = { ...config, limits: { ...config.limits, ...limits }, endpoint: { ...config.endpoint, ...endpoint } };
  const facts = factsOf(config, sections);
  const partOf = (section: Section): PlanPart => partFrom(section, config, facts, flags);
  const parts = sections.filter(({ own }) => own === undefined).map(partOf);
  const { plugins: _, ...ofSections }: PlanPart = Object.assign({}, ...parts);
  return {
    ...ofHost(given),
    plugins: withOwnPlugins(eachOnce(parts.flatMap(usesOf)), ownUses({ config, sections }, partOf)),
    outgoingAuth: outgoingAuthOf(config, sections, facts),
    ...ofSections,
    ...(flags.stateKey === undefined ? {} : { stateKey: flags.stateKey }),
  };
}

/** What the keys of the host set. */
function ofHost(config: object): Partial<PlanInput> {
  const parts = givenKeys(config).map(([key, { plan }, value]) =>
    plan === true ? { [key]: value } : plan?.(value as never),
  );
  return Object.assign({}, ...parts);
}

type PluginUse = PlanInput['plugins'][number];

function usesOf({ plugins = [] }: PlanPart): readonly PluginUse[] {
  return plugins;
}

/** Two sections may need the same plugin without settings, such as a store. */
function eachOnce(uses: readonly PluginUse[]): readonly PluginUse[] {
  return uses.filter(
    (each, index) => each.with !== undefined || uses.findIndex(({ use }) => use === each.use) === index,
  );
}

function partFrom(section: Section, config: VmcpConfig, facts: FileFacts, flags: PlanFlags): PlanPart {
  const { address, choice, whenAbsent, isInEveryPlan } = section;
  if (choice !== undefined) return chosenPart(section, choice, config);
  const isAbsent = whenAbsent !== undefined && valueAt(config, whenAbsent.split('.')) === undefined;
  if (isAbsent || isInEveryPlan) return { plugins: [{ use: address }] };
  if (!hasKey(section)) return {};
  const value = switched(section, valueAt(config, section.contractKey.split('.')), flags);
  if (section.isUnread && value !== undefined) throw new Error(`the section ${section.contractKey} was not read`);
  if (section.fromContract !== undefined) return section.fromContract(value, facts, address);
  return value === undefined ? {} : { plugins: [{ use: address, with: configFrom(section, value) }] };
}

/** Options of strategies are in the plan's `outgoingAuth`. Discovered backends may use any strategy. */
function chosenPart(section: Section, { of, isDefault }: Choice, config: VmcpConfig): PlanPart {
  const use = section.address;
  const isChosen = isIn(config, section);
  if (of === STRATEGIES) return isChosen || isDefault || isDiscovered(config) ? { plugins: [{ use }] } : {};
  if (!isChosen) return {};
  const options = hasKey(section) ? valueAt(config, section.contractKey.split('.')) : undefined;
  return { plugins: [{ use, ...(options === undefined ? {} : { with: options }) }] };
}

/** The settings of a section; `undefined` when its switch is off. */
function switched({ hasSwitch, contractKey }: KeyedSection, value: unknown, { switchedOn = [] }: PlanFlags): unknown {
  if (!hasSwitch) return value;
  const { enabled = false, ...settings } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return enabled === true || switchedOn.includes(contractKey) ? settings : undefined;
}

/** A section is the whole configuration of its plugin, or the member with the section's name. */
function configFrom(section: KeyedSection, value: unknown): unknown {
  const { own } = section;
  const key = lastKey(section);
  return own?.config instanceof z.ZodObject && Object.hasOwn(own.config.shape, key) ? { [key]: value } : value;
}

/** The entries of `plugins:`; an entry with its own section in the file gets its configuration from there. */
function ownUses({ config, sections }: SectionedConfig, partOf: (section: Section) => PlanPart): readonly PluginUse[] {
  return (config.plugins ?? []).flatMap((entry) => {
    const section = sections.find(
      ({ own, address, choice }) => own !== undefined && address === entry.use && choice === undefined,
    );
    const isInFile = section !== undefined && hasKey(section) && valueAt(config, [section.contractKey]) !== undefined;
    return isInFile ? usesOf(partOf(section)) : [entry];
  });
}

/** An entry of `plugins:` replaces the planned plugin with the same address; other entries are added at the end. */
function withOwnPlugins(planned: readonly PluginUse[], own: readonly PluginUse[]): PluginUse[] {
  const replaced = planned.map((use) => own.find((other) => other.use === use.use) ?? use);
  return [...replaced, ...own.filter((use) => !replaced.includes(use))];
}

function outgoingAuthOf(
  config: VmcpConfig,
  sections: readonly Section[],
  { backends: listed }: FileFacts,
): NonNullable<PlanInput['outgoingAuth']> {
  const { default: fallback = defaultOf(sections, STRATEGIES), backends: given = {} } = config.outgoingAuth;
  const choices = choicesOf(sections, STRATEGIES);
  const ownOf = (backend: string) => (Object.hasOwn(given, backend) ? given[backend] : undefined);
  const around = listed.flatMap(({ name, strategyAround }): [string, StrategyUse][] =>
    strategyAround === undefined ? [] : [[name, strategyAround(strategyUse(ownOf(name) ?? fallback, choices))]],
  );
  const own = Object.entries(given).map(([backend, use]): [string, StrategyUse] => [
    backend,
    strategyUse(use, choices),
  ]);
  const byDefault = strategyUse(fallback, choices);
  return {
    default: isDiscovered(config) ? { type: 'discovered', options: { default: byDefault } } : byDefault,
    backends: Object.fromEntries([...own, ...around]),
  };
}

function isDiscovered({ outgoingAuth }: VmcpConfig): boolean {
  return outgoingAuth.source === 'discovered';
}
