import { parse } from 'yaml';

interface Workflow {
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number }>>;
}

/** An action at a commit, e.g. `actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2`. */
const PINNED = /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** What the project asks of workflow files and a linter does not, one sentence each. `texts`: content by path. */
export function workflowFaults(texts: ReadonlyMap<string, string>, scripts: readonly string[]): readonly string[] {
  return [...texts].flatMap(([path, text]) => {
    const { permissions, concurrency, jobs } = parse(text) as Workflow;
    const uses = [...text.matchAll(/\buses: (.+)$/gm)].map(([, action = '']) => action);
    const called = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => script);
    return [
      ...(permissions === undefined ? [`${path} has no permissions`] : []),
      ...(concurrency === undefined ? [`${path} has no concurrency`] : []),
      ...Object.entries(jobs)
        .filter(([, job]) => job['timeout-minutes'] === undefined)
        .map(([name]) => `${path}: the job ${name} has no timeout-minutes`),
      ...uses
        .filter((action) => !PINNED.test(action))
        .map((action) => `${path}: ${action} is not a commit with its version as a comment`),
      ...called
        .filter((script) => !scripts.includes(script))
        .map((script) => `${path}: npm run ${script} is not a script`),
    ];
  });
}
