import { catalogue } from '@toolmgr/plugins';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CheckManifest, createManifestCheck } from '../../../../hosts/operator/crd/check-manifest.ts';
import { kindSchemas } from '../../../../hosts/operator/crd/crd.ts';
import type { Structural } from '../../../../hosts/operator/crd/structural.ts';
import { objectOf } from './admission-server.ts';
import { LIMIT_CASES } from './limit-cases.ts';
import { RULE_CASES } from './rule-cases.ts';
import { server } from './server-cases.ts';

describe('the check of manifests', () => {
  let check: CheckManifest;
  beforeAll(async () => {
    check = await createManifestCheck(catalogue);
  });

  it.each(RULE_CASES)(
    'accepts and refuses by the rule of $kind: $at: $says',
    ({ kind, says, at, accepts, refuses }) => {
      expect(check(objectOf(kind, accepts))).toEqual([]);
      expect(check(objectOf(kind, refuses))).toContainEqual({ path: at, message: expect.stringContaining(says) });
    },
  );

  it.each(LIMIT_CASES)('knows the bounds of $kind $at', ({ kind, at, accepts = [], refuses }) => {
    for (const spec of accepts) expect(check(objectOf(kind, spec))).toEqual([]);
    for (const spec of refuses) expect(check(objectOf(kind, spec)).map(({ path }) => path)).toContain(at);
  });

  it('names the nearest field of an unknown one', () => {
    expect(check(objectOf('VirtualMCPServer', server({ incomingAuht: {} })))).toEqual([
      { path: 'spec.incomingAuht', message: 'unknown field, did you mean "incomingAuth"?' },
    ]);
  });

  it('names the nearest kind and the expected version', () => {
    expect(check({ apiVersion: 'toolmgr.dev/v1beta1', kind: 'VirtualMCPServers' })).toEqual([
      { path: 'kind', message: 'toolmgr.dev has no kind VirtualMCPServers, did you mean "VirtualMCPServer"?' },
    ]);
    expect(check({ apiVersion: 'toolmgr.dev/v1', kind: 'VirtualMCPServer' })).toEqual([
      { path: 'apiVersion', message: 'expected toolmgr.dev/v1beta1, got toolmgr.dev/v1' },
    ]);
  });

  it('has nothing to say about objects of other groups', () => {
    expect(check({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: 5 })).toEqual([]);
  });

  it('refuses what is no object, and names that are none', () => {
    expect(check([])).toHaveLength(1);
    expect(check({ kind: 'MCPGroup' })).toEqual([{ path: 'apiVersion', message: 'is required' }]);
    const named = (name: unknown) => check({ ...objectOf('MCPGroup', {}), metadata: { name } });
    expect(named('a.b-c')).toEqual([]);
    for (const name of ['A', '', undefined, 'a_b', '-a', 'a'.repeat(254), 5]) {
      expect(named(name).map(({ path }) => path)).toEqual(['metadata.name']);
    }
  });

  it('checks manifests where no optional package is installed', async () => {
    const without = Object.fromEntries(
      Object.entries(catalogue).map(([address, entry]) => [
        address,
        typeof entry === 'function' ? missing : { ...entry, load: missing },
      ]),
    );
    const checkWithout = await createManifestCheck(without);
    expect(checkWithout(objectOf('MCPGroup', {}))).toEqual([]);
    expect(checkWithout(objectOf('MCPGroup', { wrong: 1 }))).toHaveLength(1);
    await expect(kindSchemas(without)).rejects.toThrow('the package absent');
  });

  it('has a case for every rule of every kind', async () => {
    const kinds = await kindSchemas(catalogue);
    const said = RULE_CASES.map(({ says }) => says);
    const rules = kinds.flatMap(({ schema }) => messagesOf(schema));
    expect(rules.length).toBeGreaterThan(50);
    expect([...new Set(rules)].filter((message) => !said.some((says) => message.includes(says)))).toEqual([]);
  });
});

/** What Node throws for a package that is not installed. */
function missing(): Promise<never> {
  const message = `Cannot find package 'absent' imported from ${import.meta.filename}`;
  return Promise.reject(Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' }));
}

function messagesOf(schema: Structural): readonly string[] {
  const { properties = {}, items, additionalProperties, 'x-kubernetes-validations': rules = [] } = schema;
  const inner = [...Object.values(properties), ...[items, additionalProperties].filter((each) => each !== undefined)];
  return [...rules.map(({ message }) => message), ...inner.flatMap(messagesOf)];
}
