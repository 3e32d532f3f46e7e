import { explainIssues, nearest, readPlan } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const schema = z.strictObject({
  audit: z.strictObject({ enabled: z.boolean().default(false), maxDataSize: z.int().min(1) }).optional(),
  tools: z.array(z.strictObject({ workload: z.string(), excludeAll: z.boolean().optional() })).default([]),
  auth: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('a'), headerName: z.string() }),
      z.strictObject({ type: z.literal('b'), tokenUrl: z.string() }),
    ])
    .optional(),
});

function explained(value: unknown): string[] {
  const read = schema.safeParse(value);
  return read.success ? [] : explainIssues('config', schema, read.error);
}

describe('a reading that fails', () => {
  it('names the path, the unknown key and the nearest known one', () => {
    expect(explained({ audit: { enabeld: true, maxDataSize: 1 } })).toEqual([
      'config.audit: unknown key "enabeld", did you mean "enabled"?',
    ]);
    expect(explained({ tools: [{ workload: 'x', exclude_all: true }] })).toEqual([
      'config.tools[0]: unknown key "exclude_all", did you mean "excludeAll"?',
    ]);
    expect(explained({ zzz: 1 })[0]).toContain('config: unknown key "zzz" (known: audit, tools, auth)');
  });

  it('tells what is wrong with a key of a map', () => {
    const headers = z.record(z.string().regex(/^x-/, 'Expected a name that begins with x-'), z.string());
    const { error } = headers.safeParse({ accept: 'a' });
    expect(explainIssues('headers', headers, error as z.ZodError)).toEqual([
      'headers.accept: expected a name that begins with x-',
    ]);
  });

  it('gives one line per problem with what was expected', () => {
    const lines = explained({ audit: { maxDataSize: 0 }, tools: [{}] });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^config\.audit\.maxDataSize: too small: expected number to be >=1$/);
    expect(lines[1]).toMatch(/^config\.tools\[0\]\.workload: /);
  });

  it('never repeats the value, which may be a secret', () => {
    expect(explained({ audit: 'hunter2-secret' }).join()).not.toContain('hunter2');
  });
});

describe('a plan', () => {
  it('is read strictly, with every default filled in', () => {
    const plan = readPlan({ plugins: [] });
    expect(plan.outgoingAuth).toEqual({ default: { type: 'unauthenticated' }, backends: {} });
    expect(plan.endpoint).toMatchObject({ path: '/mcp', loopback: true });
    expect(plan.timeouts.defaultMs).toBe(30_000);
    expect(() => readPlan({ plugin: [] })).toThrow('plan: unknown key "plugin", did you mean "plugins"?');
    expect(() => readPlan({ plugins: [], limits: { sesions: 1 } })).toThrow('did you mean "sessions"?');
  });
});

describe('the nearest word', () => {
  it('is near, or none', () => {
    expect(nearest('Authorise', ['authorize', 'limit'])).toBe('authorize');
    expect(nearest('x', ['authorize', 'limit'])).toBeUndefined();
    expect(nearest('a'.repeat(10_000), ['a'])).toBeUndefined();
  });
});
