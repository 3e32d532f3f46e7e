import type { JsonObject } from '@toolmgr/core';
import { canonicalJson, differences, pinnedDefinition } from '@toolmgr/plugins/kit/tool-pins';
import { describe, expect, it } from 'vitest';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('the hash of a definition', () => {
  it('does not depend on the order of members, on white space and on members that are not shown', () => {
    const one = pinnedDefinition(bytes({ name: 'a', inputSchema: { type: 'object', properties: { b: {}, a: {} } } }));
    const text = '{ "inputSchema": {"properties":{"a":{},"b":{}}, "type":"object"}, "size":{"x":1}, "name":"\\u0061" }';
    expect(pinnedDefinition(Buffer.from(text)).hash).toBe(one.hash);
  });

  it.each([
    'name',
    'title',
    'description',
    'inputSchema',
    'outputSchema',
    'annotations',
    'icons',
    'arguments',
    '_meta',
  ])('changes with %s', (member) => {
    const before = pinnedDefinition(bytes({ name: 'a', inputSchema: {} }));
    expect(pinnedDefinition(bytes({ name: 'a', inputSchema: {}, [member]: ['other'] })).hash).not.toBe(before.hash);
  });

  it('is that of canonical JSON (RFC 8785 §3.2.3)', () => {
    expect(canonicalJson({ '\u20ac': 'Euro', '\r': 'CR', '1': 'One', '😀': [1e30, 4.5, null] })).toBe(
      '{"\\r":"CR","1":"One","€":"Euro","😀":[1e+30,4.5,null]}',
    );
  });
});

describe('the differences of two definitions', () => {
  it('name the paths of schemas and the whole of texts', () => {
    const before = { description: 'Adds', inputSchema: { properties: { a: { type: 'string' } }, required: ['a'] } };
    const after = { description: 'Adds, then sends', inputSchema: { properties: { a: { type: 'string' }, b: {} } } };
    expect(differences(before, after)).toEqual([
      { path: 'description', before: 'Adds', after: 'Adds, then sends' },
      { path: 'inputSchema.properties.b', before: undefined, after: {} },
      { path: 'inputSchema.required', before: ['a'], after: undefined },
    ]);
  });

  it('are not larger than the definitions: what is below a long name is shown as a whole', () => {
    const long = 'k'.repeat(100_000);
    const of = (text: string) => ({
      inputSchema: { [long]: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, text])) },
    });
    expect(differences(of('x'), of('y'))).toEqual([
      { path: `inputSchema.${long}`, before: of('x').inputSchema[long], after: of('y').inputSchema[long] },
    ]);
    expect(differences(of('x'), of('x'))).toEqual([]);
  });

  it('read each text a few times, however deep it is', () => {
    let reads = 0;
    const deep = (text: string) => {
      let value: JsonObject = {
        get text() {
          reads++;
          return text;
        },
      };
      for (let level = 0; level < 50; level++) value = { a: value };
      return value;
    };
    expect(differences(deep('x'), deep('y'))).toMatchObject([{ before: 'x', after: 'y' }]);
    expect(reads).toBeLessThan(10);
  });
});
