import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encode, type JsonObject, type ToolEntry } from '@toolmgr/core';
import { typeOfSchema } from '@toolmgr/plugins/kit/settings';
import { describe, expect, it } from 'vitest';
import { codeModeConfig } from '../../../plugins/code-mode/execute-script/config.ts';
import { declarationsOf } from '../../../plugins/code-mode/execute-script/declarations.ts';
import { scopeOf } from '../../../plugins/code-mode/execute-script/scope.ts';
import { toolDefinition } from '../../../plugins/code-mode/execute-script/tool-definition.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LARGE_BUDGET = 100_000;

function tool(workload: string, original: string, more: JsonObject = {}, key = `${workload}_${original}`): ToolEntry {
  const definition = encode({ name: key, inputSchema: { type: 'object' }, ...more });
  return { kind: 'tool', key, backend: workload, original, definition, shapedBy: ['prefix'] };
}

const SEARCH = tool('git-hub', 'search', {
  description: 'Searches */ for(;;); /* issues.\nSecond line',
  inputSchema: {
    type: 'object',
    properties: {
      q: { type: 'string', description: 'what to look for */' },
      'odd name': { type: ['integer', 'null'] },
      state: { enum: ['open', 'closed'] },
      filter: { anyOf: [{ $ref: '#/$defs/filter' }, { type: 'boolean' }] },
      tags: { type: 'array', items: { type: 'string' } },
      rest: { type: 'object', additionalProperties: { type: 'number' } },
    },
    required: ['q'],
    $defs: { filter: { type: 'object', properties: { and: { type: 'array', items: { $ref: '#/$defs/filter' } } } } },
  },
  outputSchema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] },
});

describe('the declarations of a scope', () => {
  proves(
    'choice.code-mode.declarations',
    'are TypeScript: the compiler accepts correct calls and rejects wrong ones',
    async () => {
      const scope = scopeOf([SEARCH, tool('git-hub', 'delete'), tool('2nd', 'x-y'), tool('', 'a', {}, 'lone')]);
      const declared = declarationsOf(scope, LARGE_BUDGET);
      const right = `const { total } = await git_hub.search({ q: 'a', 'odd name': null, state: 'open', filter: true, tags: ['b'], rest: { c: 1 } });
        total.toFixed(); await git_hub.delete(); await _2nd.x_y({});`;
      expect(await compiled(`${declared}\nasync function script() { ${right} }`)).toEqual('');
      for (const wrong of [
        'git_hub.search({})',
        'git_hub.search({ q: 1 })',
        "git_hub.search({ q: '', state: 'new' })",
        'git_hub.find()',
      ]) {
        expect([wrong, await compiled(`${declared}\nasync function script() { await ${wrong}; }`)]).toEqual([
          wrong,
          expect.stringMatching(/error TS2\d+/),
        ]);
      }
    },
  );

  it('fit their budget: first comments are dropped, then nesting, then types, then names', () => {
    const tools = Array.from({ length: 300 }, (_, n) => tool(`server${n % 7}`, `tool${n}`, about(n)));
    const scope = scopeOf(tools);
    let before = Number.POSITIVE_INFINITY;
    for (const budget of [LARGE_BUDGET * 2, 60_000, 30_000, 16_000, 4_000, 1_000]) {
      const declared = declarationsOf(scope, budget);
      expect(declared.length).toBeLessThanOrEqual(budget);
      expect(declared.length).toBeLessThanOrEqual(before);
      before = declared.length;
    }
    expect(declarationsOf(scope, LARGE_BUDGET * 2)).toContain('/* the name of it */');
    expect(declarationsOf(scope, 60_000)).toContain('tool299(');
    const little = declarationsOf(scope, 4_000);
    expect(little).toMatch(/\/\/ more, without their types: server\d\.tool\d+ .* … and \d+ others\n$/);
  });

  it('fit into the description', () => {
    const config = codeModeConfig.parse({ descriptionChars: 6_000 });
    const scope = scopeOf(Array.from({ length: 2_500 }, (_, n) => tool('many', `tool${n}`, about(n))));
    const { description } = JSON.parse(toolDefinition(scope, config).toString()) as { description: string };
    expect(description.length).toBeLessThanOrEqual(6_000);
    expect(description).toMatch(/```ts\n[\s\S]*```$/);
    expect(scope.functions).toHaveLength(2_000);
    expect(scope.find('many_tool2499')?.original).toBe('tool2499');
  });

  it.each([
    [undefined, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ type: 'object' }, '{}'],
    [{ const: 'a' }, '"a"'],
    [{ allOf: [{ type: 'string' }, { type: 'number' }] }, 'string & number'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', items: { enum: [1, 2] } }, '(1 | 2)[]'],
    [{ $ref: '#' }, 'unknown'],
    [{ $ref: 'http://elsewhere/schema' }, 'unknown'],
    [{ $ref: '#/__proto__' }, 'unknown'],
    [{ oneOf: [] }, 'never'],
    [{ type: 'strange' }, 'unknown'],
    [{ enum: 'not a list' }, 'unknown'],
    [{ properties: 7 }, '{}'],
    [{ type: 'object', properties: { '"]; evil(': { type: 'string' } } }, '{ "\\"]; evil("?: string }'],
  ])('say %j as %s', (schema, type) => {
    expect(typeOfSchema(schema as JsonObject, { depth: 3, comments: 0 })).toBe(type);
  });

  it('are finite for recursive, deep or huge schemas', () => {
    const loop = {
      $ref: '#/$defs/a',
      $defs: { a: { properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/a' } } } },
    };
    expect(typeOfSchema(loop, { depth: 50, comments: 0 }).length).toBeLessThan(1_000);
    let deep: JsonObject = {};
    for (let n = 0; n < 5_000; n++) deep = { type: 'object', properties: { deep } };
    expect(typeOfSchema(deep, { depth: 3, comments: 80 })).toBe('{ deep?: { deep?: { deep?: object } } }');
    const wide = { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, {}])) };
    expect(typeOfSchema(wide, { depth: 3, comments: 0 }).length).toBeLessThan(2_000);
  });
});

describe('the names of tools in scripts', () => {
  it('are never reserved words or globals; the first of two equal names wins', () => {
    const scope = scopeOf([
      tool('JSON', 'parse', {}, 'JSON_parse'),
      tool('a', 'x.y', {}, 'eval'),
      tool('a', 'x-y', {}, 'far'),
      tool('far', 'b', {}, 'a_b'),
      tool('far', 'c', {}, 'a-b'),
    ]);
    expect(scope.functions.map(({ flat, member }) => [flat, member && `${member.group}.${member.name}`])).toEqual([
      ['JSON_parse', 'JSON_.parse'],
      [undefined, 'a.x_y'],
      [undefined, undefined],
      ['a_b', 'far.b'],
      [undefined, 'far.c'],
    ]);
    expect(['eval', 'far', 'a-b', 'a.x_y', 'x-y', '__proto__'].map((name) => scope.find(name)?.original)).toEqual([
      'x.y',
      'x-y',
      'c',
      'x.y',
      undefined,
      undefined,
    ]);
  });

  it('do not reveal a name that an override replaced', () => {
    const hidden = {
      ...tool('a', 'internal', {}, 'a_public'),
      aliases: ['public'],
      shapedBy: ['override.name', 'prefix'],
    };
    const bare = { ...tool('b', 'internal', {}, 'plain'), shapedBy: ['override.name'] };
    expect(scopeOf([hidden, bare]).functions.map(({ member }) => member?.name)).toEqual(['public', 'plain']);
  });

  it('exclude dispatchers, and have no group for virtual tools', () => {
    const run = () => Promise.reject(new Error('not called'));
    const scope = scopeOf([
      { ...tool('code-mode/execute-script', 'x', {}, 'execute_tool_script'), isDispatcher: true, run },
      { ...tool('composite/engine', 'y', {}, 'my_workflow'), run },
    ]);
    expect(scope.functions).toMatchObject([{ flat: 'my_workflow', tool: 'my_workflow' }]);
    expect(scope.functions[0]?.member).toBe(undefined);
  });
});

function about(n: number): JsonObject {
  return {
    description: `Does the thing number ${n}, which is one of many things that are done here`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'the name of it' },
        where: { type: 'object', properties: { place: { type: 'string' }, floor: { type: 'integer' } } },
      },
      required: ['name'],
    },
  };
}

/** The compiler's errors for a text; empty when it compiles. */
async function compiled(text: string): Promise<string> {
  const folder = temporaryFolder('declarations');
  const file = join(folder, 'script.ts');
  await writeFile(file, `${text}\nexport {};\n`);
  const tsc = join(import.meta.dirname, '../../../node_modules/typescript/lib/tsc.js');
  const run = promisify(execFile)(process.execPath, [
    tsc,
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'es2024',
    '--types',
    '',
    file,
  ]);
  return run.then(
    () => '',
    (failed: { stdout: string }) => failed.stdout,
  );
}
