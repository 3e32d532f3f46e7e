import { fieldPath } from '@toolmgr/core';
import type { FieldProblem } from '@toolmgr/plugins/kit/operations';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { HIDDEN } from '../../shared/redact-arguments.ts';
import { FIELDS } from '../../workloads/fields/fields.ts';
import { placeOf } from '../../workloads/fields/member-schemas.ts';
import { hide, redactList, valueAt } from './redaction.ts';

/** A configuration for export: without the time of its creation; values that may be secret are hidden. Pure. */
export function exportedConfig({ created_at: _, ...config }: RunConfig): Omit<RunConfig, 'created_at'> {
  const shown: Record<string, unknown> = { ...config };
  for (const { stored = '', hidden } of FIELDS.filter((field) => field.hidden !== undefined)) {
    const value = valueAt(config, stored);
    if (hidden === undefined || value === undefined) continue;
    const [section, name] = placeOf(stored);
    if (section === '') shown[name] = hide(hidden, value);
    else shown[section] = { ...(shown[section] as object), [name]: hide(hidden, value) };
  }
  const { process: program } = config;
  if (program !== undefined) shown.process = { ...program, args: redactList(program.args) };
  return shown as Omit<RunConfig, 'created_at'>;
}

/** The places of a configuration where an export hid a value: an import needs the values. */
export function hiddenPlaces(value: unknown, path: readonly (string | number)[] = []): readonly FieldProblem[] {
  if (typeof value === 'string') {
    const detail = 'the value was hidden by the export: give the value, or refer to a stored secret in secrets';
    return value.includes(HIDDEN) ? [{ in: 'body', path: fieldPath(path), detail }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...members].flatMap(([key, member]) => hiddenPlaces(member, [...path, key]));
}
