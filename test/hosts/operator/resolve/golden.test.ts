import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveYaml } from './resolve-yaml.ts';

const folder = join(import.meta.dirname, '../../../golden/resolve');
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

describe('the resolution of a VirtualMCPServer', () => {
  it.each(files)('%s matches its golden file', async (file) => {
    const resolution = await resolveYaml(textOf(file));
    const golden = join(folder, file.replace(/\.yaml$/, '.json'));
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, `${JSON.stringify(resolution, undefined, 2)}\n`);
    expect(resolution).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  });

  it.each(files)('%s is the same whatever the order of objects and keys', async (file) => {
    const first = await resolveYaml(textOf(file));
    const reversed = textOf(file)
      .split(/^---\n/m)
      .reverse()
      .join('---\n');
    expect(JSON.stringify(await resolveYaml(reversed))).toBe(JSON.stringify(first));
  });

  it('has no golden file without its objects', () => {
    const golden = readdirSync(folder).filter((file) => file.endsWith('.json'));
    expect(golden.map((file) => file.replace(/\.json$/, '.yaml')).sort()).toEqual([...files].sort());
  });
});
