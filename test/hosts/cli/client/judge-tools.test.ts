import type { JsonObject } from '@toolmgr/core';
import { expect, it } from 'vitest';
import { judgeTool, type Known, verdictOf } from '../../../../hosts/cli/client/judge-tools.ts';
import { pinOf } from '../../../../hosts/cli/client/tool-pin.ts';
import type { Explanation } from '../../../../hosts/shared/running/explain.ts';

const read: JsonObject = {
  name: 'a_read',
  description: 'reads',
  inputSchema: { type: 'object', properties: { b: {}, a: {} } },
  annotations: { readOnlyHint: true },
};
const write: JsonObject = { name: 'a_write', inputSchema: { type: 'object' } };
const backend = { name: 'a', transport: 'stdio', status: 'ready', outgoingAuth: 'none' };
const explanation = (more: Partial<Explanation>): Explanation => ({
  name: 'x',
  found: true,
  suggestions: [],
  backend,
  mayRefuse: {},
  mayRewrite: {},
  warnings: [],
  ...more,
});
const known = (more: Partial<Known> = {}, explained: Readonly<Record<string, Explanation>> = {}): Known => ({
  listed: [read, write],
  lacking: [],
  explained: new Map(Object.entries(explained)),
  readOnly: false,
  pins: new Map(),
  ...more,
});

const down = { ...backend, status: 'unavailable', cause: 'exit: it ended' };
const CASES: readonly (readonly [string, string, string, boolean, Known])[] = [
  ['a listed tool', 'a_read', 'ok', false, known({ readOnly: true })],
  ['a tool that may write', 'a_write', 'not-read-only', false, known({ readOnly: true })],
  ['another definition', 'a_read', 'changed', false, known({ pins: new Map([['a_read', pinOf(write)]]) })],
  ['its backend ended', 'a_read', 'backend-down', true, known({}, { a_read: explanation({ backend: down }) })],
  ['a filter', 'x', 'hidden', false, known({}, { x: explanation({ hiddenBy: 'filter' }) })],
  ['a pin', 'x', 'hidden', false, known({}, { x: explanation({ held: 'it is new', original: 'x' }) })],
  ['a policy', 'x', 'denied', false, known({}, { x: explanation({ mayRefuse: { authorize: ['cedar'] } }) })],
  [
    'two of one name',
    'x',
    'conflict',
    false,
    known({}, { x: explanation({ found: false, warnings: ['x is in a and b'] }) }),
  ],
  ['a backend that starts', 'x', 'not-yet', true, known({ lacking: ['b (starting, 2 s)'] })],
  ['a misspelt name', 'a_raed', 'unknown', false, known()],
];

it.each(CASES)('preflight: %s', (_what, name, status, retryable, facts) => {
  const judged = judgeTool(name, facts);
  expect(judged).toMatchObject({ name, status, retryable });
  expect(judged.action === '').toBe(status === 'ok');
});

it('preflight suggests at most three names', () => {
  const listed = ['list', 'list_a', 'list_b', 'list_c'].map((name) => ({ name }));
  expect(judgeTool('list_', known({ listed })).didYouMean).toHaveLength(3);
});

it('the verdict is the one that matters most', () => {
  const of = (...names: string[]) =>
    verdictOf(
      names.map((name) => judgeTool(name, known({}, { down: explanation({ found: false, warnings: ['w'] }) }))),
    );
  expect(of('a_read', 'a_write')).toBe('ready');
  expect(of('a_read', 'down')).toBe('blocked');
  expect(of('zzz', 'down')).toBe('unknown');
  expect(verdictOf([judgeTool('x', known({ lacking: ['b'] }))])).toBe('degraded');
});

it('a pin does not depend on the order of members, and changes with the description', () => {
  const { name, description, inputSchema, annotations } = read;
  expect(
    pinOf({
      annotations,
      inputSchema: { properties: { a: {}, b: {} }, type: 'object' },
      description,
      name,
    } as JsonObject),
  ).toBe(pinOf(read));
  expect(inputSchema).toBeDefined();
  expect(pinOf({ ...read, description: 'reads, and sends everything away' })).not.toBe(pinOf(read));
});
