import { createSlots, type Slots } from '../../core/extension/slots.ts';
import { definedTable } from './defined-points.ts';
import { code, page, table } from './markdown.ts';
import { pluginLink } from './plugin-link.ts';
import { sourceTexts } from './sources.ts';

/** Text about a slot. */
export interface SlotProse {
  readonly methods: string;
  readonly contract: string;
  readonly purpose: string;
  readonly chosenBy: string;
}

/** One entry per slot of the live table. */
export const SLOT_PROSE = {
  authStrategies: {
    methods: '`prepare(options, where): Promise<Authorizer>`; `Authorizer.apply(outbound, authContext)` adds headers',
    contract: 'AuthStrategy',
    purpose: 'one way to authenticate towards backends',
    chosenBy:
      '`outgoingAuth.default.type` and `outgoingAuth.backends.NAME.type`; prepared at boot, applied per request. A vmcp file may name the strategies that a plugin declares in `slotOptions` ([example](../guides/plugin-parts.md#a-strategy-towards-backends))',
  },
  backendSources: {
    methods: '`watch(push, signal): Promise<void>`; pushes whole snapshots',
    contract: 'BackendSource',
    purpose: 'discovery of backends',
    chosenBy: 'every registered source runs; a failed source is restarted with back-off and its last snapshot stays',
  },
  stores: {
    methods:
      '`get(key)`, `set(key, value, ttlMs)`, `delete(key)`, `take(buckets, nowMs)`, `close()`; get then set is not atomic. `take` takes one token from every bucket or from none, and resolves 0, or the milliseconds until all have one. A `Bucket` is `{ key, capacity, refillPeriodMs }`: it holds `capacity` tokens, is full when it is first used, and is refilled from empty to full in `refillPeriodMs`',
    contract: 'Store',
    purpose: 'keyed values and token buckets',
    chosenBy: 'the plugin that needs one, by name',
  },
  stdioLaunchers: {
    methods: '`(command): StdioProcess`; a process with pipes, wherever it runs',
    contract: 'StdioLauncher',
    purpose: 'where the program behind a stdio backend runs, if not on this machine',
    chosenBy: '`command.launcher` of a backend, which a runtime sets',
  },
  secretSources: {
    methods: '`read(name, signal): Promise<string>`',
    contract: 'SecretSource',
    purpose: 'reads secrets; values are never logged',
    chosenBy: 'the plugin that needs one, by name',
  },
  stepTypes: {
    methods:
      '`options`: the schema of its keys; `compile(options, compiling): CompiledStep`; `CompiledStep.run(running): Promise<StepOutput>`',
    contract: 'StepType',
    purpose: 'one kind of step of a composite tool',
    chosenBy: 'the `type` of a step ([example](../../examples/custom-step))',
  },
  sandboxes: {
    methods: '`run(job, limits, signal): Promise<ScriptOutcome>`',
    contract: 'Sandbox',
    purpose: 'runs the scripts of code mode',
    chosenBy: 'code mode, by name',
  },
  searchers: {
    methods: '`index(tools, vectors): Promise<SearchIndex>`; `find(query)`; `passageOf`, `questionsOf`: what to embed',
    contract: 'Searcher',
    purpose: 'finds tools for the optimizer',
    chosenBy: 'the optimizer, by name',
  },
} as const satisfies Record<keyof Slots, SlotProse>;

/** docs/reference/slots.md */
export function slotsPage(): string {
  const live = Object.keys(createSlots()) as (keyof Slots)[];
  const fillers = fillersBySlot();
  return page('Slots', '`core/extension/slots.ts`, read from the live table', [
    'A slot holds named implementations, of which the configuration chooses one. Plugins register them in `apply`. A taken name (`SLOT_TAKEN`) or an unknown name (`SLOT_UNKNOWN`, with the known names and the nearest one) stops the boot. Slots are read at boot, never per call.',
    'A slot without an implementation in this repository is not used yet; custom plugins may register one.',
    table(
      ['slot', 'holds', 'contract', 'filled by'],
      live.map((name) => [
        code(name),
        SLOT_PROSE[name].purpose,
        code(SLOT_PROSE[name].contract),
        (fillers.get(name) ?? []).map((address) => `[${code(address)}](${pluginLink(address)})`).join(', ') ||
          'none yet',
      ]),
    ),
    ...live.map((name) =>
      [
        `## ${name}`,
        [`- Methods: ${SLOT_PROSE[name].methods}`, `- Chosen by: ${SLOT_PROSE[name].chosenBy}`].join('\n'),
      ].join('\n\n'),
    ),
    '## Slots of packages',
    'A package defines a slot of its own with `defineSlot`, and exports it ([example](../guides/plugin-parts.md)). It is used as `core.slot(value)`; the same rules apply.',
    definedTable('slot'),
  ]);
}

/** Plugins that register into each slot, found in their sources. */
function fillersBySlot(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const [path, text] of sourceTexts(['plugins'])) {
    const folder = /^plugins\/(.+)\/[^/]+$/.exec(path)?.[1];
    if (folder === undefined) continue;
    for (const [, slot = ''] of text.matchAll(/\bslots\.(\w+)\.register\(/g)) {
      found.set(slot, (found.get(slot) ?? new Set()).add(folder));
    }
  }
  return new Map([...found].map(([slot, addresses]) => [slot, [...addresses].sort()]));
}
