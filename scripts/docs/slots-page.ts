import { createSlots, type Slots } from '../../core/extension/slots.ts';
import { code, page, table } from './markdown.ts';
import { sourceTexts } from './sources.ts';

/** What the page says about a slot. */
export interface SlotProse {
  readonly face: string;
  readonly contract: string;
  readonly purpose: string;
  readonly chosenBy: string;
}

/** One entry per slot of the live table. */
export const SLOT_PROSE = {
  authStrategies: {
    face: '`prepare(options, where): Promise<Authorizer>`; `Authorizer.apply(outbound, errand)` adds headers',
    contract: 'AuthStrategy',
    purpose: 'one way to authenticate towards backends',
    chosenBy:
      '`outgoingAuth.default.type` and `outgoingAuth.backends.NAME.type` of the plan; prepared at boot, applied per request',
  },
  backendSources: {
    face: '`watch(push, signal): Promise<void>`; pushes whole snapshots',
    contract: 'BackendSource',
    purpose: 'where backends come from',
    chosenBy: 'every registered source runs; one that fails is started again with back-off and its last snapshot stays',
  },
  stores: {
    face: '`get`, `set` with a time to live, `delete`, `take` from token buckets, `close`',
    contract: 'Store',
    purpose: 'keyed values and token buckets',
    chosenBy: 'the plugin that needs one, by name',
  },
  workloadRuntimes: {
    face: '`start(spec, signal): Promise<WorkloadHandle>`; the handle stops, reports and keeps the last output',
    contract: 'WorkloadRuntime',
    purpose: 'how a workload is run',
    chosenBy: 'the plugin or host that runs workloads, by name',
  },
  secretSources: {
    face: '`read(name, signal): Promise<string>`',
    contract: 'SecretSource',
    purpose: 'where secrets come from; the value is never logged',
    chosenBy: 'the plugin that needs one, by name',
  },
  stepTypes: {
    face: '`compile(step, tools): CompiledStep`; `run(input, scope, signal)`',
    contract: 'StepType',
    purpose: 'one kind of step of a composite tool',
    chosenBy: 'the `type` of a step',
  },
  sandboxes: {
    face: '`run(job, limits, signal): Promise<ScriptOutcome>`',
    contract: 'Sandbox',
    purpose: 'where scripts of code mode run',
    chosenBy: 'code mode, by name',
  },
  searchers: {
    face: '`index(tools, vectors): Promise<SearchIndex>`; `find(query)`; `passageOf`, `questionsOf`: what to embed',
    contract: 'Searcher',
    purpose: 'how the optimizer finds tools',
    chosenBy: 'the optimizer, by name',
  },
  embedders: {
    face: '`open(settings): Promise<Embedder>`; `embed(texts)`: unit vectors; `identity()`: what they depend on',
    contract: 'EmbedderKind',
    purpose: 'how text becomes vectors for a search by meaning',
    chosenBy: 'the optimizer, by `embeddingProvider`',
  },
} as const satisfies Record<keyof Slots, SlotProse>;

/** docs/reference/slots.md */
export function slotsPage(): string {
  const live = Object.keys(createSlots()) as (keyof Slots)[];
  const fillers = fillersBySlot();
  return page('Slots', '`core/extension/slots.ts`, read from the live table', [
    'A slot is for questions where exactly one named implementation is chosen by configuration. Plugins fill slots in `apply`; a taken name (`SLOT_TAKEN`) and an unknown one (`SLOT_UNKNOWN`, with the known names and the nearest) stop the boot. Slots are looked up at boot, never per call.',
    'A slot that no plugin fills yet has its contract and waits for its first plugin; custom plugins may fill it, but nothing of this repository asks it.',
    table(
      ['slot', 'holds', 'contract', 'filled by'],
      live.map((name) => [
        code(name),
        SLOT_PROSE[name].purpose,
        code(SLOT_PROSE[name].contract),
        (fillers.get(name) ?? []).map((address) => `[${code(address)}](plugins.md#${anchor(address)})`).join(', ') ||
          'nobody yet',
      ]),
    ),
    ...live.map((name) =>
      [`## ${name}`, [`- Face: ${SLOT_PROSE[name].face}`, `- Chosen by: ${SLOT_PROSE[name].chosenBy}`].join('\n')].join(
        '\n\n',
      ),
    ),
  ]);
}

/** GitHub's anchor of a heading that is a plugin address. */
export function anchor(address: string): string {
  return address.toLowerCase().replaceAll('/', '');
}

/** Which plugins register into which slot, by their sources. */
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
