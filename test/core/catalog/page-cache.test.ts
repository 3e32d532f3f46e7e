import { type Era, itemBytes, type JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../../core/catalog/catalog.ts';
import { needsWrapping } from '../../../core/catalog/entry-definition.ts';
import { pageOf } from '../../../core/catalog/page-cache.ts';
import { built, keysOf, pageValue } from '../../support/catalogs.ts';
import fc from '../../support/fast-check.ts';
import { listingOf, listingsOf, rawItem } from '../../support/listings.ts';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const PARTS = { serverInfo: { name: 'gateway', version: '1' }, ttlMs: 0, limits: { listTtlMs: 0, pageSize: 2 } };

describe('a list page', () => {
  it('carries hints, result type and server info for modern clients', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['t'] } }));
    expect(pageValue(catalog, 'tool', MODERN)).toEqual({
      tools: [{ name: 't', inputSchema: { type: 'object' } }],
      ttlMs: 0,
      cacheScope: 'private',
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'gateway', version: '1' } },
    });
  });

  it('is plain for legacy clients', () => {
    const { catalog } = built(listingsOf({ a: { prompts: ['p'], resources: ['x://1'], templates: ['x://{a}'] } }));
    expect(catalog.page('prompt', LEGACY, undefined)?.toString()).toBe('{"prompts":[{"name":"p"}]}');
    expect(pageValue(catalog, 'resource', LEGACY)).toEqual({ resources: [{ uri: 'x://1', name: 'thing' }] });
    expect(pageValue(catalog, 'template', LEGACY)).toEqual({
      resourceTemplates: [{ uriTemplate: 'x://{a}', name: 'things' }],
    });
    expect(catalog.page('tool', LEGACY, undefined)?.toString()).toBe('{"tools":[]}');
  });

  it('is one ready buffer', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['t', 'u', 'v'] } }), { limits: { listTtlMs: 0, pageSize: 1 } });
    expect(catalog.page('tool', MODERN, undefined)).toBe(catalog.page('tool', MODERN, undefined));
    const next = nextOf(pageValue(catalog, 'tool', MODERN));
    expect(catalog.page('tool', MODERN, next)).toBe(catalog.page('tool', MODERN, next));
    expect(catalog.page('tool', LEGACY, next)).not.toBe(catalog.page('tool', MODERN, next));
  });

  it('holds ten times as many items for legacy clients', () => {
    const tools = Array.from({ length: 25 }, (_, at) => `t${String(at).padStart(2, '0')}`);
    const { catalog } = built(listingsOf({ a: { tools } }), { limits: { listTtlMs: 0, pageSize: 2 } });
    expect(walk(catalog, MODERN).map((page) => page.length)).toEqual([...Array(12).fill(2), 1]);
    expect(walk(catalog, LEGACY).map((page) => page.length)).toEqual([20, 5]);
    expect(walk(catalog, LEGACY).flat()).toEqual(tools);
  });

  it('continues after the last key when the list was rebuilt in between', () => {
    const limits = { listTtlMs: 0, pageSize: 2 };
    const before = built(listingsOf({ a: { tools: ['a', 'c', 'e', 'g'] } }), { limits });
    const next = nextOf(pageValue(before.catalog, 'tool', MODERN));
    const after = built(listingsOf({ a: { tools: ['a', 'b', 'd', 'e', 'g'] } }), { limits });
    expect(namesOf(pageValue(after.catalog, 'tool', MODERN, next))).toEqual(['d', 'e']);
  });

  it.each([
    ['empty', ''],
    ['not base64url', '%%%'],
    ['not JSON', Buffer.from('{').toString('base64url')],
    ['no object', cursor([])],
    ['null', cursor(null)],
    ['of another list', cursor({ k: 'prompt', a: 'a' })],
    ['without a key', cursor({ k: 'tool' })],
    ['with a key of another type', cursor({ k: 'tool', a: 1 })],
    ['with a negative count', cursor({ k: 'tool', a: 'a', n: -1 })],
    ['with a broken count', cursor({ k: 'tool', a: 'a', n: 0.5 })],
    ['over-long', cursor({ k: 'tool', a: 'a'.repeat(400) })],
  ])('is refused for a cursor that is %s', (_, bad) => {
    const { catalog } = built(listingsOf({ a: { tools: ['a', 'b'] } }));
    expect(catalog.page('tool', MODERN, bad)).toBeUndefined();
    expect(catalog.page('tool', LEGACY, bad)).toBeUndefined();
  });

  it('is empty after the last key', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['a', 'b'] } }));
    for (const past of [
      { k: 'tool', a: 'z' },
      { k: 'tool', a: 'a', n: 1e15 },
    ]) {
      expect(pageValue(catalog, 'tool', MODERN, cursor(past)).tools).toEqual([]);
    }
  });

  it('walks every list once, whatever its keys, with cursors of at most 512 characters', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({ maxLength: 3 }).map((end) => `${'\u0000\ud800'.repeat(300)}${end}`),
      fc.string({ unit: 'grapheme', maxLength: 3 }).map((end) => `x://${'é'.repeat(2000)}${end}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (resources, pageSize) => {
        const { catalog } = built(listingsOf({ a: { resources } }), { limits: { pageSize, listTtlMs: 0 } });
        const seen: string[] = [];
        for (let next: string | undefined, n = 0; n <= resources.length; n++) {
          const page = pageValue(catalog, 'resource', MODERN, next);
          seen.push(...(page.resources as { uri: string }[]).map(({ uri }) => uri));
          next = nextOf(page);
          if (next === undefined) break;
          expect(next.length).toBeLessThanOrEqual(512);
        }
        expect(seen).toHaveLength(resources.length);
        expect(seen).toEqual(keysOf(catalog, 'resource'));
      }),
    );
  });

  it('of filtered entries has the bytes of the whole list', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['a', 'b', 'c', 'd'] } }), PARTS);
    const some = catalog.visible('tool').filter(({ key }) => key !== 'b');
    const first = pageOf(some, 'tool', MODERN, undefined, PARTS);
    expect(namesOf(JSON.parse(String(first)))).toEqual(['a', 'c']);
    const next = nextOf(JSON.parse(String(first)));
    expect(namesOf(JSON.parse(String(pageOf(some, 'tool', MODERN, next, PARTS))))).toEqual(['d']);
    expect(pageOf(catalog.visible('tool'), 'tool', MODERN, undefined, PARTS)).toEqual(
      catalog.page('tool', MODERN, undefined),
    );
    expect(pageOf(some, 'tool', MODERN, 'nonsense', PARTS)).toBeUndefined();
  });
});

describe('a tool as an era lists it', () => {
  const entryOf = (text: string, era: Era) => {
    const { catalog } = built(new Map([['a', { ...listingOf('a', { era }), tools: [rawItem('t', text)] }]]));
    const [entry] = catalog.visible('tool');
    if (entry === undefined) throw new Error(`${text} is not listed`);
    return entry;
  };
  const listed = (text: string, from: Era, to: Era) => itemBytes(entryOf(text, from), to).toString();

  it('loses execution, since tasks are not served', () => {
    const text = '{"name":"t", "execution":{"taskSupport":"optional"},"x":1}';
    expect(listed(text, LEGACY, MODERN)).toBe('{"name":"t","x":1}');
    expect(listed(text, LEGACY, LEGACY)).toBe('{"name":"t","x":1}');
  });

  it('keeps an object schema, and any schema for modern clients', () => {
    const object = '{"name":"t","outputSchema":{ "type":"object"}}';
    const array = '{"name":"t","outputSchema":{ "type":"array"}}';
    expect(listed(object, MODERN, LEGACY)).toBe(object);
    expect(listed(array, MODERN, MODERN)).toBe(array);
    expect(needsWrapping(entryOf(object, MODERN))).toBe(false);
    expect(needsWrapping(entryOf('{"name":"t"}', MODERN))).toBe(false);
  });

  it.each([
    ['{ "type":"array","maxItems":1e2}', undefined],
    ['{"anyOf":[{"type":"object"},{"type":"null"}]}', undefined],
    ['{"type":["object","null"]}', undefined],
    ['true', undefined],
  ])('has a schema of another root wrapped for legacy clients: %s', (schema) => {
    const text = `{"name":"t","outputSchema":${schema},"x":1}`;
    expect(listed(text, MODERN, LEGACY)).toBe(
      `{"name":"t","outputSchema":{"type":"object","properties":{"result":${schema}},"required":["result"]},"x":1}`,
    );
    expect(needsWrapping(entryOf(text, MODERN))).toBe(true);
  });

  it('is passed on as it is from a legacy backend to a legacy client', () => {
    const text = '{"name":"t","outputSchema":{"$ref":"#/$defs/a"}}';
    expect(listed(text, LEGACY, LEGACY)).toBe(text);
    expect(needsWrapping(entryOf(text, LEGACY))).toBe(false);
  });

  it('moves pointers along with a wrapped schema, and only pointers', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#' }, { $ref: '#anchor' }, { $ref: 'https://x.example/#/a' }],
      $defs: {
        a: { properties: { default: { $ref: '#/$defs/a' }, $ref: { type: 'string' } }, const: { $ref: '#' } },
        own: { $id: 'https://y.example/', $ref: '#/$defs/a' },
      },
    };
    const wrapped = JSON.parse(listed(JSON.stringify({ name: 't', outputSchema: schema }), MODERN, LEGACY));
    const moved = '#/properties/result';
    expect(wrapped.outputSchema).toEqual({
      $schema: schema.$schema,
      type: 'object',
      properties: {
        result: {
          $schema: schema.$schema,
          anyOf: [
            { $ref: `${moved}/$defs/a` },
            { $ref: moved },
            { $ref: '#anchor' },
            { $ref: 'https://x.example/#/a' },
          ],
          $defs: {
            a: {
              properties: { default: { $ref: `${moved}/$defs/a` }, $ref: { type: 'string' } },
              const: { $ref: '#' },
            },
            own: schema.$defs.own,
          },
        },
      },
      required: ['result'],
    });
  });
});

function cursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function nextOf(page: JsonObject): string | undefined {
  return page.nextCursor as string | undefined;
}

function namesOf(page: JsonObject): string[] {
  return (page.tools as { name: string }[]).map(({ name }) => name);
}

function walk(catalog: Catalog, era: Era): string[][] {
  const pages: string[][] = [];
  for (let next: string | undefined, n = 0; n < 100; n++) {
    const page = pageValue(catalog, 'tool', era, next);
    pages.push(namesOf(page));
    next = nextOf(page);
    if (next === undefined) break;
  }
  return pages;
}
