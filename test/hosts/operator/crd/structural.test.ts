import { catalogue } from '@toolmgr/plugins';
import { kube, ofSection } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { kindSchemas } from '../../../../hosts/operator/crd/crd.ts';
import { jsonSchemaOf } from '../../../../hosts/operator/crd/json-schema.ts';
import { type Structural, structural } from '../../../../hosts/operator/crd/structural.ts';

const section = z.strictObject({
  list: z.array(z.strictObject({ name: z.string() })).default([]),
  size: z.int().default(5),
  text: z.string().default(''),
});
const convert = (schema: z.ZodType): Structural => structural(jsonSchemaOf(schema), () => jsonSchemaOf(section));
const memberOf = (schema: z.ZodType): Structural | undefined =>
  convert(z.strictObject({ member: schema })).properties?.member;

describe('a structural schema', () => {
  it('has one object for alternatives that are objects, with what all of them require', () => {
    const union = z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('a'), name: z.string(), only: z.string() }),
      z.strictObject({ type: z.literal('b'), name: z.string().optional() }),
    ]);
    expect(memberOf(union)).toEqual({
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['a', 'b'] },
        name: { type: 'string' },
        only: { type: 'string' },
      },
      required: ['type'],
    });
  });

  it('accepts everything where other alternatives are, which it cannot say', () => {
    expect(memberOf(z.union([z.boolean(), z.array(z.string())]))).toEqual({
      'x-kubernetes-preserve-unknown-fields': true,
    });
    expect(memberOf(z.unknown())).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
  });

  it('gives integers their size, without the bounds of safe integers', () => {
    expect(memberOf(z.int())).toEqual({ type: 'integer', format: 'int64' });
    expect(memberOf(z.int().min(1).max(50))).toEqual({ type: 'integer', format: 'int32', minimum: 1, maximum: 50 });
    expect(memberOf(z.number().positive())).toEqual({ type: 'number', minimum: 0, exclusiveMinimum: true });
  });

  it('writes a recursive schema for three levels', () => {
    interface Tree {
      inner?: Tree;
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ inner: tree.optional() }));
    expect(JSON.stringify(convert(z.strictObject({ tree })))).not.toContain('$ref');
    let at: Structural | undefined = memberOf(tree);
    let levels = 0;
    for (; at?.type === 'object'; at = at.properties?.inner) levels += 1;
    expect([levels, at]).toEqual([3, { 'x-kubernetes-preserve-unknown-fields': true }]);
  });

  it('takes the schema of a section with its additions, and without its empty defaults', () => {
    const rules = [{ rule: 'has(self.size)', message: 'size' }];
    const within = {
      '': { rules, required: ['size'] },
      list: { listMapKeys: ['name'], maxItems: 3 },
      'list.[].name': { pattern: '^a' },
    };
    expect(memberOf(ofSection('any', { within }).describe('mine'))).toEqual({
      description: 'mine',
      type: 'object',
      required: ['size'],
      properties: {
        list: {
          type: 'array',
          maxItems: 3,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string', pattern: '^a' } } },
        },
        size: { type: 'integer', format: 'int64', default: 5 },
        text: { type: 'string' },
      },
      'x-kubernetes-validations': rules,
    });
    expect(memberOf(kube(z.array(z.string()).default([]), { listType: 'set' }))).toEqual({
      type: 'array',
      items: { type: 'string' },
      default: [],
      'x-kubernetes-list-type': 'set',
    });
  });

  it('refuses an addition whose place a plugin has renamed', () => {
    const additionTo = (path: string, addition: object) => () =>
      memberOf(ofSection('any', { within: { [path]: addition } }));
    expect(additionTo('lists', { maxItems: 1 })).toThrow('an addition has no place: lists');
    expect(additionTo('list.[]', { required: ['key'] })).toThrow('an addition names a key that is not there');
  });
});

describe('the schemas of the kinds', () => {
  it('have only patterns that RE2 and JavaScript read alike', async () => {
    const patterns = (await kindSchemas(catalogue)).flatMap(({ schema }) => patternsOf(schema));
    expect(patterns.length).toBeGreaterThan(50);
    for (const pattern of new Set(patterns)) {
      expect(() => new RegExp(pattern, 'u')).not.toThrow();
      expect(pattern).not.toMatch(/\(\?[=!<]|\\[1-9]/); // lookaround and back references
    }
  });
});

function patternsOf({ pattern, properties = {}, items, additionalProperties }: Structural): readonly string[] {
  const inner = [...Object.values(properties), ...[items, additionalProperties].filter((each) => each !== undefined)];
  return [...(pattern === undefined ? [] : [pattern]), ...inner.flatMap(patternsOf)];
}
