import { encode, type JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { createSessionOwners } from '../../../core/server/era-2026-07-28/session-owners.ts';
import { callerNamed } from '../../support/fake-gateway.ts';

const crowded = (name: string, objects: number): JsonObject => ({
  extensions: { [`com.example/${name}`]: { a: Array.from({ length: objects }, () => ({})) } },
});

it('capabilities of a stateless client are refused when they are large, as nothing else would end what keeps them', async () => {
  await using kit = await testGateway({ backends: { far: fakeServer().tool('t', 'x') } });
  const ask = async (capabilities: JsonObject) => {
    const client = await kit.client({ capabilities });
    return client.request('tools/list');
  };
  expect((await ask(crowded('ordinary', 100))).error).toBeUndefined();
  const { status, error } = await ask(crowded('large', 4_000));
  expect([status, error?.code, error?.message]).toEqual([400, -32602, expect.stringContaining('4096 bytes')]);
});

it('a gateway keeps no owner of backend sessions with capabilities of kilobytes between requests', () => {
  const owners = createSessionOwners(() => ({ resourceUpdated() {}, logged() {} }), undefined);
  const of = (declared: JsonObject) => owners.of(callerNamed('eve'), declared, encode(declared));
  expect(of(crowded('small', 10))).toBe(of(crowded('small', 10)));
  const [one, two] = [of(crowded('big', 1_000)), of(crowded('big', 1_000))];
  expect(one).not.toBe(two);
  expect(one.key).toBe(two.key);
});
