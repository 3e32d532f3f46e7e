import type { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { commanderOptions } from '../../../hosts/workloads/fields/options.ts';
import { type RequirementId, requirements } from '../../requirements.ts';
import { citationsOf } from '../../support/coverage.ts';
import { readTree } from '../../support/tree.ts';
import { CONFIGURED_DEFAULTS, CONTRACT_OPTIONS, type ContractOption, type OptionType } from './contract-options.ts';
import { planned } from './planned-gateway.ts';

const ROWS = Object.values(CONTRACT_OPTIONS).flat();
const deferred = new Map(requirements.map(({ id, deferred }) => [id as RequirementId, deferred]));
const sources = new Map([...readTree()].filter(([path]) => /^test\/.*\.test\.ts$/.test(path)));
const known = new Set(requirements.map(({ id }) => id));
const citations = [...sources].flatMap(([path, text]) => citationsOf(path, text, known));
const options = new Map(commanderOptions().map((each) => [each.long, each]));

/** Options that are without a proof in the ledger. The list only shrinks. */
const UNFINISHED: ReadonlySet<string> = new Set([
  ...['--secret', '--ca-cert', '--build-with', '--runtime-add-package', '--runtime-image'],
  '--remote-forward-headers-secret',
]);

/** Whether the ledger says that it is not built. */
function isUnfinished(row: ContractOption): boolean {
  return proofsOf(row).some((id) => deferred.get(id) !== undefined);
}

/** Lines of the ledger about an option; each has a test of its own. */
function proofsOf({ option, more = [] }: ContractOption): readonly [RequirementId, ...RequirementId[]] {
  return [`run.option.${option.slice(2)}` as RequirementId, ...more];
}

/** Files with a test that proves a line and uses the option, except the test of the parser. */
function effectsIn(row: ContractOption, id: RequirementId): readonly string[] {
  const camel = row.option.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const written = [row.option, ...(row.short === undefined ? [] : [`'${row.short}'`]), `${camel}:`];
  return citations
    .filter((citation) => citation.id === id && !citation.path.endsWith('/run/options.test.ts'))
    .map(({ path }) => path)
    .filter((path) => written.some((text) => sources.get(path)?.includes(text)));
}

/** Values that an option of a type must refuse. */
const REFUSED: Partial<Record<OptionType, readonly string[]>> = {
  int: ['x', '1.5', '-1', '65536'],
  float: ['x', '-0.1', '1.1'],
  duration: ['x', '5', '-1h'],
};

/** Why an option does not have its type; `undefined` when it has. */
function typeFault({ type, samples }: ContractOption, option: Option): string | undefined {
  const takesValue = option.required || option.optional;
  const read = (text: string, before?: unknown): unknown => option.parseArg?.(text, before as never) ?? text;
  if (type === 'bool') {
    if (!takesValue) return undefined;
    return read('true') === true && read('false') === false ? undefined : 'does not read true and false';
  }
  if (!option.required) return 'needs no value';
  if (type === 'string[]' || samples !== undefined) {
    const [one = 'a', two = 'b'] = samples ?? [];
    const both = JSON.stringify(read(two, read(one)));
    const parts = [one, two].flatMap((each) => each.split(/[=,]/));
    return parts.every((part) => both.includes(part)) ? undefined : `keeps only a part of two values: ${both}`;
  }
  if (type === 'strings') return JSON.stringify(read('a,b')) === '["a","b"]' ? undefined : 'does not split at commas';
  const accepted = (REFUSED[type] ?? []).filter((text) => accepts(read, text));
  return accepted.length === 0 ? undefined : `takes ${accepted.join(', ')}`;
}

function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The default of an option as text: commander's, that of the run configuration, or the words of the help about it, e.g.
 * `(default: those that the server names, else openid,profile,email)`.
 */
async function defaultOf({ option: long, type }: ContractOption, option: Option): Promise<readonly string[]> {
  const configured = CONFIGURED_DEFAULTS[long];
  if (configured !== undefined) {
    const { config } = await planned([...configured.beside, 'https://mcp.example.com/mcp']);
    return [String(configured.at.split('.').reduce<unknown>((value, key) => (value as never)?.[key], config))];
  }
  if (typeof option.defaultValue === 'string') return [option.defaultValue];
  const said =
    /\(default: ([^;)]+)[;)]/.exec(option.description) ?? /([\w-]+) \((?:the )?default\)/.exec(option.description);
  const words = said?.[1]?.split(/[\s,]*\s/) ?? [];
  if (type !== 'bool' || words.includes('true') || words.includes('false')) return words;
  return [String(option.defaultValue ?? false)];
}

describe('the options of the contract', () => {
  it('are 89, each with lines in the ledger', () => {
    expect(ROWS).toHaveLength(89);
    expect(new Set(ROWS.map(({ option }) => option)).size).toBe(89);
    expect(ROWS.flatMap(proofsOf).filter((id) => !deferred.has(id))).toEqual([]);
  });

  it('each have a test that shows the effect', () => {
    const unfinished = ROWS.filter(isUnfinished).map(({ option }) => option);
    expect(unfinished.filter((option) => !UNFINISHED.has(option))).toEqual([]);
    const faults = ROWS.filter((row) => !isUnfinished(row)).flatMap((row) => {
      const ids = proofsOf(row);
      const unproven = ids.filter((each) => !citations.some((citation) => citation.id === each));
      if (unproven.length > 0) return [`${row.option} has no test for ${unproven.join(', ')}`];
      return effectsIn(row, ids[0]).length > 0 ? [] : [`${row.option}: no test of ${ids[0]} uses it`];
    });
    expect(faults).toEqual([]);
  });

  describe.each(Object.entries(CONTRACT_OPTIONS))('about %s', (_, rows) => {
    it.each(rows.filter((row) => !isUnfinished(row)))(
      '$option is of the type $type and has the default $default',
      async (row) => {
        const option = options.get(row.option);
        if (option === undefined) throw new Error(`${row.option} is missing`);
        expect(option.short).toBe(row.short);
        expect(typeFault(row, option)).toBeUndefined();
        const expected = row.default ?? (row.type === 'bool' ? 'false' : undefined);
        if (expected !== undefined) expect(await defaultOf(row, option)).toContain(expected);
        else expect(option.defaultValue === undefined || typeof option.defaultValue === 'object').toBe(true);
      },
    );
  });
});
