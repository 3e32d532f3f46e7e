import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '@toolmgr/plugins';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { examineConfig } from '../../hosts/vmcp/read-config.ts';
import { ENVIRONMENT, isDescribed, variablesIn } from '../../scripts/docs/environment-variables.ts';
import { CODE_FIXES, FAULT_FIXES } from '../../scripts/docs/error-fixes.ts';
import { GENERATED } from '../../scripts/docs/markdown.ts';
import { ROOT } from '../../scripts/docs/pages.ts';
import { EXAMPLES, SURROUNDINGS } from '../../scripts/docs/vmcp/examples.ts';
import { VMCP_SCHEMA } from '../../scripts/docs/vmcp/schema.ts';
import { readTree } from '../support/tree.ts';

const tree = readTree();

describe('the page of environment variables', () => {
  const sources = [...tree].filter(
    ([path]) => /^(?:core|plugins|hosts)\/.*\.(?:ts|js)$/.test(path) && !/^hosts\/manager\/page\/|\.d\.ts$/.test(path),
  );

  it('has every variable that a source reads', () => {
    const read = sources.flatMap(([path, text]) => variablesIn(text).map((name) => ({ path, name })));
    expect(read.length).toBeGreaterThan(50);
    expect(read.filter(({ name }) => !isDescribed(name)).map(({ path, name }) => `${path} reads ${name}`)).toEqual([]);
  });

  it('has no variable that no source and no library reads', () => {
    const texts = sources.map(([, text]) => text).join('\n');
    const unread = ENVIRONMENT.flatMap(({ variables }) => Object.keys(variables))
      .map((name) => name.replace('*', ''))
      .filter((name) => !texts.includes(name) && !['OTEL_RESOURCE_ATTRIBUTES'].includes(name));
    expect(unread).toEqual([]);
  });

  it('finds how variables are read', () => {
    expect(
      variablesIn(
        "process.env.A_B; env['C_D']; x.env('E_F'); const X = 'TOOLMGR_G'; const A_VARIABLE = 'H_I'; ({ J_K = '', L_M: l }: NodeJS.ProcessEnv)",
      ),
    ).toEqual(['A_B', 'C_D', 'E_F', 'H_I', 'J_K', 'L_M', 'TOOLMGR_G']);
  });
});

describe('the page of errors', () => {
  it('says what to do about every code', () => {
    const fixes = [...Object.entries(FAULT_FIXES), ...Object.entries(CODE_FIXES)];
    expect(fixes.filter(([, fix]) => fix.length < 9).map(([name]) => name)).toEqual([]);
    const page = readFileSync(join(ROOT, 'docs/reference/errors.md'), 'utf8');
    expect(page.match(/^\| .*\| {2,}\|$/gm)).toBeNull();
  });
});

describe('the pages of the vmcp file', () => {
  it('mark no key as required that a file with servers of its own, or one of a group, may lack', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/vmcp.md'), 'utf8');
    const rows = page.split('\n').filter((line) => line.includes('| _required_ |'));
    expect(rows).toEqual([]);
    expect(page).toContain('needs only `backends`');
    expect(page).toContain('in `groupRef`, and needs `name`, `groupRef`, `aggregation`');
  });

  const check = new Ajv({ strict: false, allErrors: true }).compile(
    JSON.parse(readFileSync(join(ROOT, VMCP_SCHEMA), 'utf8')),
  );

  it.each(Object.entries(EXAMPLES))(
    'have an example of %s that the schema and the reader accept',
    async (key, example) => {
      const file = { ...SURROUNDINGS, ...example };
      expect([check(file), check.errors]).toEqual([true, null]);
      if (key === 'compositeToolRefs') return; // only the operator reads them
      const { problems = [] } = await examineConfig(file, join(ROOT, 'vmcp.yaml'), catalogue);
      expect(problems).toEqual([]);
    },
  );
});

describe('the length of pages', () => {
  const words = (text: string): number => text.split(/\s+/).length;
  const pages = [...tree].filter(([path]) => /^(?:docs\/.*|README)\.md$/.test(path));

  it('of reference pages that are generated is at most fifteen minutes, and those over ten have one subject', () => {
    const long = pages.filter(([, text]) => text.startsWith(GENERATED) && words(text) > GENERATED_WORDS);
    expect(long.map(([path, text]) => `${path}: ${words(text)}`)).toEqual([]);
  });

  it('of written pages is at most ten minutes', () => {
    const long = pages.filter(
      ([path, text]) => !text.startsWith(GENERATED) && !LONGER.has(path) && words(text) > WRITTEN_WORDS,
    );
    expect(long.map(([path, text]) => `${path}: ${words(text)}`)).toEqual([]);
  });
});

/** 220 words a minute. */
const WRITTEN_WORDS = 2_200;
/** A table of one plugin, kind, section or tag is not split: a reader looks one row up. */
const GENERATED_WORDS = 3_400;
/** Records of decisions and of measurements, which are not read from the beginning to the end, and the whole protocol. */
const LONGER: ReadonlySet<string> = new Set([
  'docs/decisions/048-authorization-server.md',
  'docs/project/benchmarks.md',
  'docs/project/retrieval.md',
  'docs/reference/protocol.md',
]);
