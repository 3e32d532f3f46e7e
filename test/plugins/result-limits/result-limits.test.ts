import type { JsonObject } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { BIG, idOf, resultLimited, textsOf } from '../../support/result-limited-gateway.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;

/** The whole text, read page by page. */
async function readAll(read: (given: JsonObject) => Promise<JsonObject>, given: JsonObject): Promise<string> {
  let [text, offset]: [string, number | undefined] = ['', 0];
  while (offset !== undefined) {
    const [about = '', page = ''] = textsOf(await read({ ...given, offset }));
    text += page;
    const [, next] = /next offset (\d+)/.exec(about) ?? [];
    if (next === undefined) expect(about).toContain('the end');
    offset = next === undefined ? undefined : Number(next);
  }
  return text;
}

describe('result-limits', () => {
  proves(
    'choice.result-limits.summary',
    'a result over its budget is replaced by its shape, an id and a link, in both revisions',
    async () => {
      await using gateway = await resultLimited();
      for (const era of ERAS) {
        const client = await gateway.kit.client({ era });
        const answer = await client.callTool('big');
        const [summary = ''] = textsOf(answer);
        expect(summary).toContain('The result of big is too large to be shown whole: 20,');
        expect(summary).toContain('tokens; the most is 4,096 bytes.');
        expect(summary).toContain('content[0]: text, 18,999 bytes, 1,000 lines');
        expect(summary).toContain('Its text begins:\nline 0000 ........\nline 0001');
        const [, link] = answer.content as readonly JsonObject[];
        expect(link).toMatchObject({ type: 'resource_link', uri: `toolmgr-result://${idOf(answer)}` });
        expect(JSON.stringify(answer).length).toBeLessThan(4_096);
      }
    },
  );

  proves(
    'choice.result-limits.resource',
    'the resource of a kept result has all of it, and its template is listed',
    async () => {
      await using gateway = await resultLimited();
      for (const era of ERAS) {
        const client = await gateway.kit.client({ era });
        const uri = `toolmgr-result://${idOf(await client.callTool('big'))}`;
        const { result } = await client.request('resources/read', { uri });
        const [contents] = (result?.contents ?? []) as readonly JsonObject[];
        expect(contents).toMatchObject({ uri, mimeType: 'application/json' });
        expect(JSON.parse(String(contents?.text)).content).toEqual([{ type: 'text', text: BIG }]);
        const listed = await client.request('resources/templates/list', {});
        expect(JSON.stringify(listed.result)).toContain('toolmgr-result://');
        const complete = {
          ref: { type: 'ref/resource', uri: 'toolmgr-result://{+id}' },
          argument: { name: 'id', value: '' },
        };
        expect((await client.request('completion/complete', complete)).result?.completion).toMatchObject({
          values: [],
        });
      }
    },
  );

  proves(
    'choice.result-limits.pages',
    'read_result reads all of a result by characters and by lines, within the budget',
    async () => {
      await using gateway = await resultLimited();
      const client = await gateway.kit.client();
      const id = idOf(await client.callTool('big'));
      const read = async (given: JsonObject): Promise<JsonObject> => {
        const page = await client.callTool('read_result', { id, ...given });
        expect(JSON.stringify(page).length).toBeLessThan(4_096);
        return page;
      };
      expect(await readAll(read, {})).toBe(BIG);
      expect(await readAll(read, { unit: 'lines' })).toBe(BIG);
      expect(textsOf(await read({ unit: 'lines', offset: 10, limit: 2 }))[1]).toBe(
        'line 0010 ........\nline 0011 ........\n',
      );
      expect(textsOf(await read({ offset: 5, limit: 4 }))).toEqual([
        '[characters 5 to 9 of 18999; next offset 9]',
        '0000',
      ]);
      expect(textsOf(await read({ offset: 1_000_000 }))[1]).toBe('');
      expect(textsOf(await read({ unit: 'lines', offset: 1_000_000 }))[0]).toContain('fewer than');
    },
  );

  proves('choice.result-limits.search', 'read_result finds text, with its place', async () => {
    await using gateway = await resultLimited();
    const client = await gateway.kit.client();
    const id = idOf(await client.callTool('big'));
    const [about, found] = textsOf(await client.callTool('read_result', { id, search: 'LINE 0500' }));
    expect(about).toContain('no more');
    const [, place] = /^(\d+): /.exec(found ?? '') ?? [];
    expect(BIG.slice(Number(place))).toMatch(/^line 0500/);
    const first = textsOf(await client.callTool('read_result', { id, search: 'line', limit: 2 }));
    expect(first[0]).toContain('next offset 2');
    expect(first[1]?.split('\n')).toHaveLength(2);
  });

  proves('choice.result-limits.path', 'read_result takes a value out of JSON by a path', async () => {
    const value = {
      items: Array.from({ length: 300 }, (_, n) => ({ id: n, 'a b': `name ${n}` })),
      'x.y': { deep: [1] },
    };
    const text = JSON.stringify(value);
    const server = fakeServer().tool('big', () => ({ content: [{ type: 'text', text }] }));
    await using gateway = await resultLimited(undefined, { server });
    const client = await gateway.kit.client();
    const answer = await client.callTool('big');
    expect(textsOf(answer)[0]).toContain('JSON object with "items"[300], "x.y"');
    const id = idOf(answer);
    const at = async (path: string) => textsOf(await client.callTool('read_result', { id, path })).at(-1);
    expect(await at('items[7].id')).toBe('7');
    expect(await at('$.items[7]["a b"]')).toBe('name 7');
    expect(await at('["x.y"].deep')).toBe('[1]');
    expect(await at('items[300]')).toContain('nothing is at items[300]');
    expect(await at('items.constructor')).toContain('nothing is at');
    expect(await at('items[*]')).toContain('is not understood at character 5');
  });

  proves(
    'choice.result-limits.structured',
    'structuredContent is left out of the summary and can be read, and such tools are listed without outputSchema',
    async () => {
      const schema = { outputSchema: { type: 'object', properties: { rows: { type: 'array' } } } };
      const rows = Array.from({ length: 2_000 }, (_, n) => n);
      const structured = () => ({ content: [], structuredContent: { rows, exact: 1 } });
      const server = fakeServer().tool('table', structured, schema).tool('free', structured, schema);
      await using gateway = await resultLimited({ tools: [{ name: 'table', bytes: 4_096 }] }, { server });
      const client = await gateway.kit.client();
      const { result } = await client.request('tools/list', {});
      const tools = (result?.tools ?? []) as readonly JsonObject[];
      expect(tools.map(({ name, outputSchema }) => [name, outputSchema !== undefined])).toEqual([
        ['free', true],
        ['read_result', false],
        ['table', false],
      ]);
      const answer = await client.callTool('table');
      expect(answer.structuredContent).toBeUndefined();
      expect(textsOf(answer)[0]).toContain('structuredContent is left out here.');
      expect(textsOf(answer)[0]).toContain('structuredContent: object with "rows"[2000], "exact"');
      const id = idOf(answer);
      expect(textsOf(await client.callTool('read_result', { id, path: 'rows[1999]' })).at(-1)).toBe('1999');
      expect(textsOf(await client.callTool('read_result', { id, part: 'text' })).at(-1)).toBe('the result has no text');
      expect((await client.callTool('free')).structuredContent).toEqual({ rows, exact: 1 });
    },
  );

  proves(
    'choice.result-limits.untouched',
    'a result within its budget has the bytes of the backend, and a tool without numbers has no budget',
    async () => {
      const raw = `{"content":[{"type":"text","text":"\\u0041 ${'x'.repeat(3_000)}"}],  "structuredContent":{"n":12345678901234567890}}`;
      const server = fakeServer(['2025-11-25'])
        .tool('small', () => ({ raw }))
        .tool('big', () => ({ raw: raw.replace('xxx', 'x'.repeat(9_000)) }))
        .tool('long', () => ({ raw: raw.replace('xxx', 'x'.repeat(9_000)) }));
      const tools = [{ name: 'big' }, { name: 'long', estimatedTokens: 1_024 }];
      await using gateway = await resultLimited(
        { default: { bytes: 1_000_000, estimatedTokens: 1_024 }, tools },
        { server },
      );
      const client = await gateway.kit.client({ era: '2025-11-25' });
      const call = async (name: string) => (await client.request('tools/call', { name, arguments: {} })).text;
      expect(await call('small')).toContain(raw);
      expect(await call('big')).toContain(raw.replace('xxx', 'x'.repeat(9_000)));
      expect(await call('long')).toContain('is too large to be shown whole');
    },
  );

  it('keeps failures as failures', async () => {
    const server = fakeServer().tool('big', () => ({ content: [{ type: 'text', text: BIG }], isError: true }));
    await using gateway = await resultLimited(undefined, { server });
    expect(await (await gateway.kit.client()).callTool('big')).toMatchObject({ isError: true });
  });

  it('refuses arguments of read_result by name', async () => {
    await using gateway = await resultLimited();
    const client = await gateway.kit.client();
    const id = 'x'.repeat(43);
    const wrong: readonly (readonly [JsonObject, string])[] = [
      [{}, 'id must be'],
      [{ id, part: 'x' }, 'part must be'],
      [{ id, unit: 'bytes' }, 'unit must be'],
      [{ id, offset: -1 }, 'offset must be'],
      [{ id, limit: 0 }, 'limit must be'],
      [{ id, path: 1 }, 'path must be'],
      [{ id, search: '' }, 'search must be'],
      [{ id, jq: '.' }, 'no argument "jq"'],
      [{ id }, 'there is no kept result'],
    ];
    for (const [given, said] of wrong) {
      const answer = await client.callTool('read_result', given);
      expect(answer.isError).toBe(true);
      expect(textsOf(answer)[0]).toContain(said);
    }
  });

  it('warns of a budget whose tool does not exist', async () => {
    await using gateway = await resultLimited({ tools: [{ name: 'bigg', bytes: 5_000 }] });
    expect(gateway.kit.logged.join()).toContain('did you mean \\"big\\"');
  });
});
