import { describe, expect, it } from 'vitest';
import { FIELDS } from '../../../hosts/workloads/fields/fields.ts';
import { flagOf } from '../../../hosts/workloads/fields/options.ts';
import type { RunOption, WorkloadField } from '../../../hosts/workloads/fields/run-option.ts';
import { readTree } from '../../support/tree.ts';
import { FILES_OF_FIELDS } from './field-files.ts';

/** Where fields are declared, read, converted and shown. They take effect in `hosts/workloads/proxy`, where an image is built, and in plugins. */
const CARRIERS =
  /^(?:hosts\/(?:run|workloads(?!\/proxy)|manager\/(?:workloads|upgrades)|operator\/controllers\/proxy)|plugins\/kit\/workloads(?!\/container-build))\/.*\.ts$/;

/** A new field changes its schema and its row. */
const AIM = 2;

/** The words of each carrier. */
const carriers = [...readTree()]
  .filter(([path]) => CARRIERS.test(path))
  .map(([, text]) => new Set(text.match(/[A-Za-z_]\w*/g)));

const lastOf = (path = '') => path.slice(path.lastIndexOf('.') + 1);

/** The names of a field that name nothing else: `port` and `host` are words of many things. */
function namesOf(field: WorkloadField & Partial<RunOption>): readonly string[] {
  const flag = field.flags === undefined ? '' : flagOf(field as RunOption);
  return [lastOf(field.stored), lastOf(field.body?.name), flag].filter((name) => /[a-z](?:_|[A-Z])/.test(name));
}

const filesOf = (field: WorkloadField) =>
  carriers.filter((words) => namesOf(field).some((name) => words.has(name))).length;

const named = Object.fromEntries(
  FIELDS.filter(({ stored, body }) => stored !== undefined || body !== undefined)
    .filter((field) => namesOf(field).length > 0)
    .map((field) => [field.stored ?? field.body?.name ?? '', filesOf(field)]),
);

describe('a field of a workload', () => {
  it('is named by no more source files than before, and a new one by two', () => {
    const above = Object.entries(named).filter(([field, files]) => files > (FILES_OF_FIELDS[field] ?? AIM));
    expect(above).toEqual([]);
  });

  it('has a lower figure in the record where fewer files name it', () => {
    const recorded = Object.entries(FILES_OF_FIELDS).filter(
      ([field, files]) => files > Math.max(named[field] ?? 0, AIM),
    );
    expect(recorded).toEqual([]);
  });
});
