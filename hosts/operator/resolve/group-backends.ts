import { isObject } from '@toolmgr/core';
import type { Problem } from '../../vmcp/problem.ts';
import { listedIn } from './backend-files.ts';
import type { ResolvedBackend } from './backends.ts';
import type { BaseFile } from './base-file.ts';
import { checkFile } from './check-file.ts';
import type { Context, Section } from './context.ts';

/** The backends that can be served, those that cannot, and what else is wrong with the file that lists them. */
export interface CheckedBackends {
  readonly served: readonly ResolvedBackend[];
  readonly leftOut: readonly ResolvedBackend[];
  /** The file that lists the served backends. */
  readonly file: Section;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Checks the backends with the schemas that the pod uses: in a file that lists them, also when the pods discover them.
 *
 * A backend with problems is left out, and the rest is checked again.
 */
export async function checkBackends(
  resolved: readonly ResolvedBackend[],
  { file: base }: BaseFile,
  context: Context,
): Promise<CheckedBackends> {
  const written = writtenBackends(context);
  const leftOut = resolved.filter(({ problem }) => problem !== undefined);
  let served = resolved.filter(({ problem }) => problem === undefined);
  for (;;) {
    const file = withKnownTimeouts({ ...base, ...listedIn(served, written) }, served);
    const examined = await checkFile(file);
    if (examined.problems === undefined) {
      return { served, leftOut, file, problems: [], warnings: examined.warnings };
    }
    const blamed = byBackend(examined.problems, served);
    if (blamed.size === 0) return { served, leftOut, file, problems: examined.problems, warnings: [] };
    for (const backend of served.filter(({ candidate: { name } }) => blamed.has(name))) {
      const problem = blamed.get(backend.candidate.name) ?? '';
      if (backend.condition !== undefined && backend.strategy !== undefined) {
        context.findings.tell(backend.condition, 'False', 'ConversionFailed', problem);
      }
      leftOut.push({ ...backend, problem });
    }
    served = served.filter(({ candidate: { name } }) => !blamed.has(name));
  }
}

/** `spec.config.backends`, which the source `inline` uses. */
export function writtenBackends({ spec }: Context): readonly unknown[] {
  const written = spec.config?.backends;
  return spec.outgoingAuth?.source === 'inline' && Array.isArray(written) ? written : [];
}

/** Problems of single backends, joined. */
function byBackend(problems: readonly Problem[], served: readonly ResolvedBackend[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, message } of problems) {
    const name = nameAt(path, served);
    if (name === undefined) continue;
    const before = found.get(name);
    found.set(name, before === undefined ? message : `${before}; ${message}`);
  }
  return found;
}

function nameAt([first, second, third]: Problem['path'], served: readonly ResolvedBackend[]): string | undefined {
  if (first === 'backends' && typeof second === 'number') return served[second]?.candidate.name;
  if (first !== 'outgoingAuth' || second !== 'backends') return undefined;
  return served.find(({ candidate: { name } }) => name === third)?.candidate.name;
}

/** Timeouts of workloads that are no backends now are left out: the file would be refused. */
function withKnownTimeouts(file: Section, served: readonly ResolvedBackend[]): Section {
  const { operational } = file;
  const timeouts = isObject(operational) ? operational.timeouts : undefined;
  const perWorkload = isObject(timeouts) ? timeouts.perWorkload : undefined;
  if (!isObject(operational) || !isObject(timeouts) || !isObject(perWorkload)) return file;
  const names = new Set(served.map(({ candidate: { name } }) => name));
  const known = Object.fromEntries(Object.entries(perWorkload).filter(([name]) => names.has(name)));
  return { ...file, operational: { ...operational, timeouts: { ...timeouts, perWorkload: known } } };
}
