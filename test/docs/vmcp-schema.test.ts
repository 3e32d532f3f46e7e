import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogue } from '@toolmgr/plugins';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { examineConfig } from '../../hosts/vmcp/read-config.ts';
import { schemaComment, VMCP_SCHEMA_URL } from '../../hosts/vmcp/schema-comment.ts';
import { type Schema, schemaRows } from '../../scripts/docs/config-table.ts';
import { ROOT } from '../../scripts/docs/pages.ts';
import { MEANINGS } from '../../scripts/docs/vmcp/meanings.ts';
import { VMCP_SCHEMA } from '../../scripts/docs/vmcp/schema.ts';
import { readTree } from '../support/tree.ts';

const schema = JSON.parse(readFileSync(join(ROOT, VMCP_SCHEMA), 'utf8'));
// strict: a keyword that editors do not know is an error
const check = new Ajv({
  allErrors: true,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  formats: { uri: true },
}).compile(schema);
const problemsOf = (file: unknown): readonly string[] => {
  check(file);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

const SMALL = {
  name: 'small',
  groupRef: 'small',
  incomingAuth: { type: 'anonymous' },
  outgoingAuth: { source: 'inline' },
  aggregation: { conflictResolution: 'prefix' },
};

describe('the JSON Schema of a vmcp file', () => {
  const files = [...readTree()].filter(([path]) =>
    /^examples\/[\w-]+\/vmcp\.yaml$|^test\/golden\/plan\/.*\.yaml$/.test(path),
  );

  it('accepts every example and every file of the tests that becomes a plan', () => {
    expect(files.length).toBeGreaterThan(10);
    const refused = files.flatMap(([path, text]) => problemsOf(parse(text)).map((problem) => `${path}: ${problem}`));
    expect(refused).toEqual([]);
  });

  it('is named in the first line of every example', () => {
    for (const [path, text] of files.filter(([path]) => path.startsWith('examples/'))) {
      const [, address = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
      expect(join(dirname(path), address), path).toBe(VMCP_SCHEMA);
    }
  });

  it('is published at the address that generated files name', () => {
    const own = JSON.parse(readFileSync(join(ROOT, 'hosts/package.json'), 'utf8'));
    expect(schemaComment()).toBe(
      `# yaml-language-server: $schema=https://unpkg.com/toolmgr@${own.version}/schemas/vmcp.schema.json`,
    );
    expect(schema.$id).toBe(VMCP_SCHEMA_URL);
    expect(own.files).toContain('schemas');
    expect(existsSync(fileURLToPath(import.meta.resolve('toolmgr/schemas/vmcp.schema.json')))).toBe(true);
  });

  it('has a description for every key, and every meaning has its key', () => {
    const rows = schemaRows(withoutReferences(schema));
    expect(rows.filter(([, , , meaning]) => meaning === '').map(([key]) => key)).toEqual([]);
    const keys = new Set(rows.map(([key = '']) => key.replaceAll('`', '')));
    const written = Object.keys(MEANINGS).filter((key) => !keys.has(key) && !key.endsWith('.*'));
    expect(written).toEqual([]);
  });

  it('has the choices and defaults that editors offer', () => {
    const { knownStrategy } = schema.definitions;
    expect(schema.properties.incomingAuth.properties.type.enum).toContain('oidc');
    expect(knownStrategy.properties.type.enum).toContain('token_exchange');
    expect(schema.properties.aggregation.properties.conflictResolution.enum).toContain('prefix');
    expect(schema.properties.codeMode.properties.enabled.default).toBe(false);
  });

  it.each<[string, object]>([
    ['an unknown key', { surprise: 1 }],
    ['an unknown key of a section', { aggregation: { conflict: 'prefix' } }],
    ['an unknown key of a backend', { backends: [{ name: 'a', transport: 'sse', url: 'http://a.example', uri: 'x' }] }],
    ['a value outside a choice', { incomingAuth: { type: 'basic' } }],
    ['an unknown strategy', { outgoingAuth: { source: 'inline', default: { type: 'magic' } } }],
    ['a number out of range', { limits: { sessions: -1 } }],
    ['text in place of a switch', { audit: { enabled: 'yes' } }],
  ])('refuses %s, and so does the reader', async (_what, change) => {
    expect(problemsOf(SMALL)).toEqual([]);
    const file = { ...SMALL, ...change };
    expect(problemsOf(file)).not.toEqual([]);
    expect((await examineConfig(file, '/vmcp.yaml', catalogue)).problems).not.toBeUndefined();
  });

  it('accepts sections and strategies of plugins that the catalogue does not have', () => {
    expect(problemsOf({ ...SMALL, ownSection: {}, plugins: [{ use: './own.ts' }] })).toEqual([]);
    expect(problemsOf({ ...SMALL, ownSection: {}, plugins: [{ use: 'stores/memory' }] })).not.toEqual([]);
    const signed = { source: 'inline', backends: { orders: { type: 'signed', signed: {} } } };
    expect(problemsOf({ ...SMALL, outgoingAuth: signed, plugins: [{ use: './own.ts' }] })).toEqual([]);
    expect(problemsOf({ ...SMALL, outgoingAuth: signed, plugins: [{ use: 'stores/memory' }] })).not.toEqual([]);
  });
});

/** The one definition in place of its references. */
function withoutReferences({ definitions, ...rest }: { definitions: Record<string, Schema> }): Schema {
  const text = JSON.stringify(rest).replaceAll(
    '{"$ref":"#/definitions/strategy"}',
    JSON.stringify(definitions.strategy),
  );
  return JSON.parse(text) as Schema;
}
