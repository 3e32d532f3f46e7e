import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '@toolmgr/plugins';
import { parse, stringify } from 'yaml';
import { readConfig } from '../../hosts/vmcp/read-config.ts';

type Node = Readonly<Record<string, unknown>>;

const BASES = join(import.meta.dirname, 'bases');

/**
 * Reads a block as `vmcp validate` does. A block that lists `backends` is a whole file; another one is put into the file
 * `bases/NAME.yaml`.
 * With `loadsPlugins` the plugins of the reader are loaded too.
 * @throws Error with every problem and every warning
 */
export async function checkVmcp(text: string, base = 'plain', loadsPlugins = false): Promise<void> {
  const given = parse(text) as Node;
  const isWhole = given.backends !== undefined;
  // the text itself, so that what only the parser sees is checked too
  const { warnings } = await readConfig(
    isWhole ? text : stringify(merged(baseNamed(base), given)),
    'vmcp.yaml',
    catalogue,
    { loadsPlugins },
  );
  if (warnings.length > 0) throw new Error(`warnings: ${warnings.join('; ')}`);
}

/** Reads the steps of a composite tool. */
export async function checkSteps(text: string): Promise<void> {
  const steps: unknown = parse(text);
  if (!Array.isArray(steps)) throw new Error('expected a list of steps');
  const parameters = { type: 'object', properties: { path: { type: 'string' }, cities: { type: 'array' } } };
  await checkVmcp(stringify({ compositeTools: [{ name: 'of_the_page', description: 'x', parameters, steps }] }));
}

function baseNamed(name: string): Node {
  const file = join(BASES, `${name}.yaml`);
  if (!existsSync(file)) throw new Error(`there is no test/docs/bases/${name}.yaml`);
  return parse(readFileSync(file, 'utf8')) as Node;
}

/** The sections of `over` in those of `base`; lists are replaced. */
function merged(base: Node, over: Node): Node {
  const entries = Object.entries(over).map(([key, value]): [string, unknown] => {
    const before = base[key];
    return [key, isNode(before) && isNode(value) ? merged(before, value) : value];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
