import { explainIssues, isObject } from '@toolmgr/core';
import { fromFirstFormat } from './first-run-format.ts';
import { AVAILABLE_WITH } from './later-run-fields.ts';
import { type RunConfig, runConfig } from './run-config.ts';
import { findConflict } from './run-config-conflicts.ts';

/** The outcome of reading: the configuration, or one sentence per fault. Values are not repeated. */
export type ReadRunConfig = { readonly config: RunConfig } | { readonly problems: readonly string[] };

/** Reads a run configuration of this version or of the first one. Unknown fields are faults with the nearest name. */
export function readRunConfig(value: unknown): ReadRunConfig {
  const current = fromFirstFormat(value);
  const later = laterFields(current);
  if (later.length > 0) return { problems: later };
  const read = runConfig.safeParse(current);
  if (!read.success) return { problems: explainIssues('', runConfig, read.error) };
  const conflict = findConflict(read.data);
  if (conflict !== undefined) return { problems: [conflict] };
  return { config: read.data };
}

/** Fields of the contract that no feature reads yet. */
function laterFields(value: unknown): string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((field) => {
    const feature = AVAILABLE_WITH.get(field);
    return feature === undefined ? [] : [`${field} is not available yet: it comes with ${feature}`];
  });
}
