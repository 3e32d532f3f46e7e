import type { PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import type { FlagsPart, FromFlags, RunConfig, WorkloadStart } from '@toolmgr/plugins/kit/workloads';

/** What each plugin of the catalogue makes of the flags of a workload. */
export async function partsFromFlags(config: RunConfig, start: WorkloadStart): Promise<readonly FlagsPart[]> {
  const given = new Set(Object.keys(config).filter((field) => config[field as keyof RunConfig] !== undefined));
  const parts = ENTRIES.map(async ([address, { section, flags }]) => {
    if (section?.isInEveryPlan) return { plugins: [{ use: address }] };
    return flags?.fields.some((field) => given.has(field))
      ? ((await flagsReader(address))?.plan(config, start, address) ?? {})
      : {};
  });
  return Promise.all(parts);
}

/** How a plugin of the catalogue reads flags; `undefined` when no flag is about it. */
export async function flagsReader(address: string): Promise<FromFlags | undefined> {
  const entry = ENTRIES.find(([other]) => other === address)?.[1];
  return (await entry?.flags?.read())?.fromFlags as FromFlags | undefined;
}

/** The plugin that is chosen in a section where nothing is said. */
export function defaultOf(of: 'incomingAuth' | 'outgoingAuth.*'): { readonly use: string; readonly type: string } {
  const found = ENTRIES.find(([, { section }]) => section?.choice?.of === of && section.choice.isDefault);
  if (found === undefined) throw new Error(`the catalogue has no default for ${of}`);
  return { use: found[0], type: found[1].section?.choice?.type ?? '' };
}

/** Whether a file chooses the plugin by its type, and not because nothing is said. */
export function isChosen(address: string): boolean {
  const choice = ENTRIES.find(([other]) => other === address)?.[1].section?.choice;
  return choice !== undefined && !choice.isDefault;
}

/** The plugin that brings a strategy: its address is the name of the strategy. */
export function strategyAddress(type: string): string {
  return `outgoing-auth/${type.replaceAll('_', '-')}`;
}

/** A plugin of a plan. */
export type PluginUse = PlanInput['plugins'][number];

/** Plugins in the order of the catalogue. */
export function inOrder(uses: readonly PluginUse[]): PluginUse[] {
  const order = Object.keys(catalogue);
  const placeOf = ({ use }: PluginUse): number => (Object.hasOwn(catalogue, use) ? order.indexOf(use) : order.length);
  return uses.toSorted((one, other) => placeOf(one) - placeOf(other));
}

const ENTRIES = Object.entries(catalogue).flatMap(([address, entry]) =>
  typeof entry === 'function' ? [] : [[address, entry] as const],
);
