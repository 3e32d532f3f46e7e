import { beforeEach, describe, expect, it } from 'vitest';
import {
  forgetCalls,
  MAX_ANSWER_BYTES,
  MAX_BYTES,
  MAX_CALLS,
  pastCalls,
  remember,
  secretsOf,
  withoutSecrets,
} from '../../../../hosts/manager/page/views/playground/past-calls.ts';

const tried = (key: string, values = {}, text = '', endpoint = 'one'): void =>
  remember({
    ...{ endpoint, kind: 'tools', key, values, secrets: new Set<string>(), outcome: 'ok', ms: 1 },
    answer: { result: { text } },
  });
const keys = (): readonly string[] => pastCalls.value.map(({ key }) => key);

describe('the history of the playground', () => {
  beforeEach(() => forgetCalls());

  it('keeps the newest calls, each with an id of its own', () => {
    for (let at = 0; at < MAX_CALLS + 5; at += 1) tried(String(at));
    expect(keys()).toHaveLength(MAX_CALLS);
    expect(keys()[0]).toBe(String(MAX_CALLS + 4));
    expect(new Set(pastCalls.value.map(({ id }) => id)).size).toBe(MAX_CALLS);
  });

  it('keeps no more bytes than its bound: no long answer, no call that does not fit, and few of many long ones', () => {
    tried('short');
    tried('long answer', {}, 'x'.repeat(MAX_ANSWER_BYTES));
    expect(pastCalls.value[0]?.answer).toBeUndefined();
    tried('too long', { file: 'é'.repeat(MAX_BYTES / 2) });
    expect(keys()).toEqual(['long answer', 'short']);
    for (let at = 0; at < 20; at += 1) tried(String(at), { file: 'x'.repeat(MAX_BYTES / 10) });
    expect(pastCalls.value.reduce((total, { bytes }) => total + bytes, 0)).toBeLessThanOrEqual(MAX_BYTES);
    expect(keys().slice(0, 9)).toEqual(['19', '18', '17', '16', '15', '14', '13', '12', '11']);
  });

  it('is forgotten for one endpoint or wholly', () => {
    tried('a');
    tried('b', {}, '', 'two');
    forgetCalls('one');
    expect(keys()).toEqual(['b']);
    forgetCalls();
    expect(keys()).toEqual([]);
  });

  it('shows no value that the schema calls secret, at any depth and in any form', () => {
    const secret = { type: 'string', format: 'password' };
    const schema = {
      $defs: { Login: { properties: { token: { type: 'string', writeOnly: true } } }, Key: secret },
      properties: {
        optional: { anyOf: [secret, { type: 'null' }] },
        several: { type: 'array', items: secret },
        key: { $ref: '#/$defs/Key' },
        login: { $ref: '#/$defs/Login' },
        plain: { type: 'string' },
      },
    };
    const values = { optional: 'a', several: ['b'], key: 'c', login: [{ token: 'd', user: 'me' }], plain: 'e' };
    expect(withoutSecrets(values, secretsOf(schema))).toEqual({
      ...{ optional: '••••', several: '••••', key: '••••' },
      login: [{ token: '••••', user: 'me' }],
      plain: 'e',
    });
  });

  it('finds the secrets of a schema whose forms refer to each other again and again', () => {
    const all = { anyOf: Array.from({ length: 10 }, () => ({ $ref: '#/$defs/Any' })) };
    const schema = { $defs: { Any: all }, properties: { any: all, token: { type: 'string', format: 'password' } } };
    expect([...secretsOf(schema)]).toEqual(['token']);
  });
});
