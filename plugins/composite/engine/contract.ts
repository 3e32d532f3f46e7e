import { nearest, type PlanPart, type SectionProblem } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** What is read here of one composite tool, and of one of its steps. */
interface Composite {
  readonly name: string;
  readonly steps: readonly Step[];
}
interface Step {
  readonly type?: string;
  readonly tool?: string;
  readonly step?: Step;
}

/** `compositeTools`. Workflows wait for answers where sessions are kept, so that any replica continues them. */
export const contract: ClusterReader = {
  facts: (composites: readonly Composite[]) => ({ ownTools: composites.map(({ name }) => name) }),
  fromContract(compositeTools: readonly Composite[] = [], { sharedStore }, use): PlanPart {
    if (compositeTools.length === 0) return {};
    const store = sharedStore === undefined ? {} : { store: sharedStore };
    return { plugins: [{ use, with: { compositeTools, ...store } }] };
  },
  problems: (composites: readonly Composite[], { hasOwnPlugins }) => (hasOwnPlugins ? [] : unknownTypes(composites)),
  /** Steps that name a tool as `workload.tool` of a workload that is not listed. */
  warnings(composites: readonly Composite[], { backends, prefixOf, ownTools, hasOwnPlugins }) {
    const names = backends.map(({ name }) => name);
    if (names.length === 0 || hasOwnPlugins) return [];
    const prefixes = prefixOf === undefined ? [] : names.map(prefixOf);
    const isKnown = (tool: string): boolean =>
      ownTools.includes(tool) ||
      !tool.includes('.') || // the own name of a tool, which only its backend knows
      names.some((workload) => tool.startsWith(`${workload}.`)) ||
      prefixes.some((prefix) => tool.startsWith(prefix));
    return composites
      .flatMap(({ steps }, at) => steps.flatMap((step, index) => toolsOf(step, [at, 'steps', index])))
      .filter(({ tool }) => !isKnown(tool))
      .map(({ path, tool }) => ({ path, message: noBackend(tool.slice(0, tool.indexOf('.')), names) }));
  },
  overview: (composites: readonly Composite[] = []) => ({
    key: 'compositeTools',
    label: 'composites',
    value: composites.length,
  }),
  fromCluster: () => import('./from-cluster.ts'),
};

const STEP_TYPES: readonly string[] = ['tool', 'elicitation', 'forEach'];

/** Step types that are not of the contract, where the file has no plugin that could bring them. */
function unknownTypes(composites: readonly Composite[]): SectionProblem[] {
  return composites.flatMap(({ steps }, tool) =>
    steps.flatMap(({ type = 'tool' }, step) => {
      if (STEP_TYPES.includes(type)) return [];
      const message = `no step type is named "${type}" (known: ${STEP_TYPES.join(', ')}; others come with a plugin under plugins:)`;
      return [{ path: [tool, 'steps', step, 'type'], message }];
    }),
  );
}

function toolsOf({ tool, step }: Step, path: SectionProblem['path']): { path: SectionProblem['path']; tool: string }[] {
  return [
    ...(tool === undefined ? [] : [{ path: [...path, 'tool'], tool }]),
    ...(step === undefined ? [] : toolsOf(step, [...path, 'step'])),
  ];
}

function noBackend(workload: string, names: readonly string[]): string {
  const hint = nearest(workload, names);
  const advice = hint === undefined ? ` (backends: ${names.join(', ')})` : `, did you mean "${hint}"?`;
  return `no backend is named "${workload}"${advice}`;
}
