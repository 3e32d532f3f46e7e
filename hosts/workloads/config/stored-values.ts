import { resolve } from 'node:path';
import { isObject } from '@toolmgr/core';
import { type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { flagOf, type RowOfRun, RUN_OPTIONS, type RunFlags } from '../fields/options.ts';
import type { RunOption } from '../fields/run-option.ts';
import type { SecretCollector } from './collect-secrets.ts';
import { readSecretFile } from './option-file.ts';

/** What options are stored with. */
export interface Storing {
  /** Name of the workload. */
  readonly name: string;
  readonly flags: RunFlags;
  /** Relative paths are relative to it. */
  readonly cwd: string;
  readonly secrets: SecretCollector;
}

/** Sections that are stored when an option of them is given; the others have more to say. */
const PLAIN_SECTIONS = [
  ...(['runtime_config', 'resource_limits', 'header_forward', 'oidc_config', 'telemetry_config'] as const),
] as const;

/**
 * The fields of a run configuration that one option each decides, and the members of plain sections; an absent field has the default of
 * its schema.
 * @throws UsageError when a file with a secret cannot be read
 */
export async function storedFields(storing: Storing): Promise<StoredFields> {
  const given = await valuesOf('', storing);
  const names = ROWS.map(({ stored }) => stored).filter((name) => !name.includes('.')) as (keyof RunConfig)[];
  const all: [string, unknown][] = names.map((name) => [
    name,
    given[name] ?? runConfig.shape[name].safeParse(undefined).data,
  ]);
  for (const name of PLAIN_SECTIONS) all.push([name, await storedSection(name, storing)]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as StoredFields;
}

/** The same for the members of one field; `undefined` when no option of them is given. */
export async function storedSection<Name extends keyof RunConfig>(
  name: Name,
  storing: Storing,
): Promise<RunConfig[Name] | undefined> {
  const values = await valuesOf(`${name}.`, storing);
  if (Object.keys(values).length === 0) return undefined;
  for (const { absent, stored } of ROWS.filter(
    (row) => row.stored.startsWith(`${name}.`) && row.absent !== undefined,
  )) {
    values[stored.slice(name.length + 1)] ??=
      typeof absent === 'function' ? absent({ ...storing.flags }, storing.name) : absent;
  }
  return values as RunConfig[Name];
}

type StoredOption = Exclude<Extract<RowOfRun, { stored: unknown }>, { as: 'own' }>;

type StoredFields = Pick<RunConfig, Extract<StoredOption['stored'], keyof RunConfig> | (typeof PLAIN_SECTIONS)[number]>;

type StoredRow = RunOption & Required<Pick<RunOption, 'stored'>>;

const ROWS = Object.values<readonly RunOption[]>(RUN_OPTIONS)
  .flat()
  .filter((row): row is StoredRow => row.stored !== undefined && row.as !== 'own');

async function valuesOf(prefix: string, storing: Storing): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const row of ROWS) {
    const name = row.stored.startsWith(prefix) ? row.stored.slice(prefix.length) : '.';
    const value = storing.flags[flagOf(row)];
    if (value !== undefined && !name.includes('.')) values[name] = await storedAs(row, name, value, storing);
  }
  return values;
}

async function storedAs({ flags, as }: RunOption, name: string, value: unknown, { cwd, secrets }: Storing) {
  if (as === undefined) return value;
  const text = String(value);
  const [long = ''] = /--[a-z-]+/.exec(flags) ?? [];
  const secret = long.slice(2).replaceAll('-', '_').toUpperCase();
  if (as === 'secret' && isObject(value)) {
    const kept = Object.entries(value).map(([key, each], index) => [
      key,
      secrets.keep(`${secret.replace(/S$/, '')}_${index + 1}`, name, String(each)),
    ]);
    return Object.fromEntries(kept);
  }
  if (as === 'secret') return secrets.keep(secret, name, text);
  if (as === 'secretFile') await readSecretFile(long, text, cwd);
  return resolve(cwd, text);
}
