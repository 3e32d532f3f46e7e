import type { JsonObject, JsonValue } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { judge } from './support.ts';

const deep = (levels: number): JsonValue => (levels === 0 ? 'end' : { down: deep(levels - 1) });

describe('claims and arguments with misleading names', () => {
  it('keep their prefixes: a claim is never an argument, a group or an attribute of the gateway', async () => {
    const { ask } = await judge([
      'permit(principal, action, resource) when { context has arg_env && context.arg_env == "ok" };',
      'permit(principal, action, resource) when { principal has claim_role && principal.claim_role == "admin" };',
      'permit(principal, action, resource) when { resource has readOnlyHint && resource.readOnlyHint };',
      'permit(principal, action, resource) when { resource has backend && resource.backend == "near" };',
      'permit(principal in THVGroup::"admin", action, resource);',
    ]);
    const claims: JsonObject[] = [
      { arg_env: 'ok', env: 'ok' },
      { claim_role: 'admin', claim_claim_role: 'admin' },
      { readOnlyHint: true, backend: 'near', name: 'x', operation: 'x' },
      { THVGroup: ['admin'], 'THVGroup::"admin"': true, parents: [{ type: 'THVGroup', id: 'admin' }] },
      { groups: ['THVGroup::"admin"', 'x", "admin', { __entity: { type: 'THVGroup', id: 'admin' } }] },
      { groups: { admin: true, length: 1, 0: 'admin' } },
    ];
    for (const each of claims) expect([each, (await ask({ claims: each })).isAllowed]).toEqual([each, false]);
    const given: JsonObject[] = [
      { claim_role: 'admin', role: 'admin' },
      { readOnlyHint: true, backend: 'near' },
      { groups: ['admin'] },
      { arg_env: 'ok' },
    ];
    for (const each of given) expect([each, (await ask({ arguments: each })).isAllowed]).toEqual([each, false]);
  });

  it('of prototypes are neither read nor set', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const { ask } = await judge({
      policies: names.flatMap((name) => [
        `permit(principal, action, resource) when { principal has "claim_${name}" };`,
        `permit(principal, action, resource) when { context has "arg_${name}" || context has "arg_${name}_present" };`,
        `permit(principal in THVGroup::"${name}", action, resource);`,
      ]),
      groupClaimName: '__proto__.constructor.name',
      roleClaimName: 'constructor',
    });
    expect(await ask()).toMatchObject({ isAllowed: false, failed: [] });
    for (const name of names) {
      const raw = `{${JSON.stringify(name)}:"x"}`;
      expect((await ask({ claims: JSON.parse(raw) as JsonObject })).isAllowed).toBe(true);
      expect((await ask({ rawArguments: raw })).isAllowed).toBe(true);
      expect((await ask({ rawArguments: `{${JSON.stringify(name)}:{"polluted":1}}` })).isAllowed).toBe(true);
    }
    expect(({} as { polluted?: number }).polluted).toBe(undefined);
    expect(
      (await ask({ claims: JSON.parse('{"__proto__":{"constructor":{"name":"toString"}}}') as JsonObject })).isAllowed,
    ).toBe(true);
  });

  proves('choice.authorization.unreadable-denies', 'that look like Cedar entities or functions deny', async () => {
    const { ask } = await judge([
      'permit(principal, action, resource) when { principal has claim_x && principal.claim_x == Tool::"echo" };',
      'permit(principal, action, resource) when { principal has claim_x && principal.claim_x == decimal("1.0") };',
      'permit(principal, action, resource) when { principal has claim_x && principal.claim_x has a };',
    ]);
    expect((await ask({ claims: { x: { a: 1 } } })).isAllowed).toBe(true);
    for (const name of ['__entity', '__extn', '__expr']) {
      const value = { [name]: { type: 'Tool', id: 'echo', fn: 'decimal', arg: '1.0' } };
      for (const x of [value, [value], { a: value }, { a: 1, ...value }]) {
        expect(await ask({ claims: { x } })).toMatchObject({
          isAllowed: false,
          reason: 'the claim "x" is not a Cedar value',
        });
      }
    }
  });
});

describe('misleading values', () => {
  proves(
    'choice.authorization.unreadable-denies',
    'pass no comparison: too large, too precise, not Unicode, of another type',
    async () => {
      const { ask } = await judge([
        '@id("all") permit(principal, action, resource);',
        '@id("most") forbid(principal, action, resource) when { context has arg_amount && context.arg_amount > 100 };',
        '@id("path") forbid(principal, action, resource) when { context has arg_path && context.arg_path like "*secret*" };',
      ]);
      const amount = async (raw: string) => {
        const { isAllowed, failed, reason } = await ask({ rawArguments: `{"amount":${raw}}` });
        return [raw, isAllowed, failed[0] ?? reason];
      };
      const unreadable = 'the argument "amount" is not a Cedar value';
      expect(await amount('100')).toEqual(['100', true, undefined]);
      expect(await amount('101')).toEqual(['101', false, undefined]);
      expect(await amount('9007199254740993')).toEqual(['9007199254740993', false, unreadable]);
      expect(await amount('1e400')).toEqual(['1e400', false, unreadable]);
      expect(await amount('100.00001')).toEqual(['100.00001', false, unreadable]);
      expect(await amount('100.5')).toEqual(['100.5', false, 'most']);
      expect(await amount('"101"')).toEqual(['"101"', false, 'most']);
      expect(await amount('true')).toEqual(['true', false, 'most']);
      expect(await amount('-0')).toEqual(['-0', true, undefined]);
      expect((await ask({ rawArguments: '{"path":"a\\ud800secret"}' })).reason).toBe(
        'the argument "path" is not a Cedar value',
      );
      expect((await ask({ rawArguments: '{"path":"a\\u0000secret"}' })).policies).toEqual(['path']);
      expect((await ask({ rawArguments: '{"unread":9007199254740993,"also":"\\udfff"}' })).isAllowed).toBe(true);
    },
  );

  proves(
    'choice.authorization.look-alike-argument-denies',
    'must have exactly the name that the policy reads',
    async () => {
      const { ask } = await judge([
        '@id("all") permit(principal, action, resource);',
        '@id("path") forbid(principal, action, resource) when { context has arg_path && context.arg_path like "*secret*" };',
        '@id("task") forbid(principal, action, resource) when { context has arg_task_present };',
      ]);
      const reason = (name: string, read: string) =>
        `the argument ${JSON.stringify(name)} differs only by case from the argument "${read}", which a policy reads`;
      for (const [name, read] of [
        ['Path', 'path'],
        ['PATH', 'path'],
        ['taſk', 'task'],
        ['tas\u212a', 'task'],
      ] as const) {
        const judged = await ask({ rawArguments: JSON.stringify({ [name]: { a: 'secret' } }) });
        expect([judged.isAllowed, judged.reason]).toEqual([false, reason(name, read)]);
      }
      expect((await ask({ rawArguments: '{"path":"open","Other":1,"pathology":2}' })).isAllowed).toBe(true);
    },
  );

  proves(
    'choice.authorization.dot-segments-denied',
    'do not match a pattern as a URI that servers normalise',
    async () => {
      const pattern =
        'permit(principal, action, resource) when { resource has uri && resource.uri like "docs://open/*" };';
      const read = { kind: 'resource', method: 'resources/read' } as const;
      const { ask } = await judge([pattern]);
      for (const name of ['docs://open/../secret', 'docs://open/%2E%2e/secret', 'docs://open/..%2Fsecret']) {
        const { isAllowed, listed, reason } = await ask({ ...read, name });
        expect([name, isAllowed, listed, reason]).toEqual([
          name,
          false,
          false,
          'its URI has an equivalent spelling, which a pattern may not match',
        ]);
      }
      expect((await ask({ ...read, name: 'docs://open/a.txt' })).isAllowed).toBe(true);
      const exact = await judge(['permit(principal, action, resource == Resource::"docs://a/../b");']);
      expect((await exact.ask({ ...read, name: 'docs://a/../b' })).isAllowed).toBe(true);
    },
  );

  it('are equal only with the same characters', async () => {
    const composed = 'caf\u00e9';
    const { ask } = await judge([
      `permit(principal == Client::"${composed}", action, resource == Tool::"${composed}");`,
      'permit(principal, action, resource) when { principal has claim_x && principal.claim_x == "admin" };',
    ]);
    expect((await ask({ subject: composed, name: composed })).isAllowed).toBe(true);
    expect((await ask({ subject: composed.normalize('NFD'), name: composed })).isAllowed).toBe(false);
    expect((await ask({ subject: composed, name: composed.normalize('NFD') })).isAllowed).toBe(false);
    for (const x of ['\u0430dmin', 'admin\u200b', 'ADMIN', ' admin']) {
      expect([x, (await ask({ claims: { x } })).isAllowed]).toEqual([x, false]);
    }
  });

  it('are bounded in depth and number', async () => {
    const { ask } = await judge([
      'permit(principal, action, resource) when { principal has claim_x && principal.claim_x has down };',
      'permit(principal in THVGroup::"g1", action, resource);',
      'forbid(principal, action, resource) when { context has arg_text };',
    ]);
    expect((await ask({ claims: { x: deep(200) } })).isAllowed).toBe(true);
    const groups = Array.from({ length: 2_001 }, (_, index) => `g${index}`);
    expect((await ask({ claims: { groups: groups.slice(1) } })).isAllowed).toBe(true);
    expect(await ask({ claims: { groups } })).toMatchObject({
      isAllowed: false,
      reason: 'the caller is in more than 2000 groups',
    });
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]));
    expect((await ask({ claims: { groups: ['g1'] }, arguments: many })).isAllowed).toBe(true);
    const whole = await judge(['permit(principal, action, resource) unless { context == {arg_k0: 1} };']);
    expect(await whole.ask({ arguments: many })).toMatchObject({
      isAllowed: false,
      reason: 'there are more than 1000 arguments',
    });
    expect((await whole.ask({ arguments: { k0: 2 } })).isAllowed).toBe(true);
  });
});

describe('names from clients and backends', () => {
  it('are only ids, with any content', async () => {
    const { ask } = await judge([
      'permit(principal, action, resource == Tool::"safe");',
      'permit(principal, action, resource == Resource::"memo://safe");',
      'permit(principal == Client::"root", action, resource);',
      'permit(principal, action, resource in MCP::"other");',
    ]);
    const names = [
      'safe"',
      'x", Tool::"safe',
      'Tool::"safe"',
      'safe\u0000',
      'safe\\',
      '\\"safe',
      'SAFE',
      ' safe',
      '__proto__',
      '',
    ];
    for (const name of names) {
      expect([name, (await ask({ name })).isAllowed]).toEqual([name, false]);
      const resource = await ask({ kind: 'resource', name: `memo://${name}` });
      expect([name, resource.isAllowed]).toEqual([name, false]);
      expect([name, (await ask({ subject: `root${name || ' '}` })).isAllowed]).toEqual([name, false]);
      expect([name, (await ask({ name, entry: { backend: 'MCP::"other"', original: 'safe' } })).isAllowed]).toEqual([
        name,
        false,
      ]);
    }
    for (const name of ['\ud800', 'safe\udfff']) {
      expect(await ask({ name })).toMatchObject({ isAllowed: false, listed: false, reason: 'its name is not Unicode' });
      expect((await ask({ kind: 'template', name, entry: { key: 'memo://{id}' } })).isAllowed).toBe(false);
    }
    expect(await ask({ subject: 'root\ud800' })).toMatchObject({
      isAllowed: false,
      reason: 'the caller has no subject',
    });
    for (const name of names) expect((await ask({ subject: 'root', name })).isAllowed).toBe(true);
    expect((await ask({ name: 'safe' })).isAllowed).toBe(true);
  });

  it('of another issuer are distinguished when the policy reads the issuer', async () => {
    const { ask } = await judge([
      'permit(principal == Client::"ada", action, resource) when { principal.claim_iss == "good" };',
    ]);
    expect((await ask({ claims: { iss: 'good' } })).isAllowed).toBe(true);
    expect((await ask({ claims: { iss: 'evil' } })).isAllowed).toBe(false);
    expect((await ask({ claims: { iss: 'good' } })).isAllowed).toBe(true);
  });

  it('use the advertised name of a tool, also after a rewrite', async () => {
    const { ask } = await judge(['permit(principal, action, resource == Tool::"safe");']);
    expect((await ask({ name: 'safe', entry: { key: 'danger' } })).isAllowed).toBe(false);
  });
});

describe('a cached decision', () => {
  it('has a key with all data that policies read', async () => {
    const { ask } = await judge({
      policies: [
        'permit(principal, action, resource) when { context has arg_a && context has arg_b && context.arg_a == "x" && context.arg_b == "y" };',
        'permit(principal in THVGroup::"g", action, resource) when { principal.claim_n == 1 };',
        'permit(principal == Client::"own", action == Action::"get_prompt", resource == Prompt::"p");',
      ],
    });
    const questions = [
      [{ arguments: { a: 'x', b: 'y' } }, true],
      [{ arguments: { a: 'x', b: 'z' } }, false],
      [{ arguments: { a: 'x","arg_b":"y' } }, false],
      [{ arguments: { b: 'x', a: 'y' } }, false],
      [{ arguments: { a: 'x', b: 1 } }, false],
      [{ claims: { groups: ['g'], n: 1 } }, true],
      [{ claims: { groups: ['g'], n: 2 } }, false],
      [{ claims: { groups: ['g'], n: '1' } }, false],
      [{ claims: { groups: ['g,', '1'], n: 1 } }, false],
      [{ claims: { groups: 'g', n: 1 } }, true],
      [{ subject: 'own', kind: 'prompt', name: 'p' }, true],
      [{ subject: 'own', kind: 'tool', name: 'p' }, false],
      [{ subject: 'own', kind: 'prompt', name: 'q' }, false],
      [{ subject: 'ow', kind: 'prompt', name: 'p' }, false],
    ] as const;
    for (let round = 0; round < 2; round++) {
      for (const [requestKind, isAllowed] of questions) {
        const claims = { n: 0, ...('claims' in requestKind ? requestKind.claims : {}) };
        expect([requestKind, (await ask({ ...requestKind, claims })).isAllowed]).toEqual([requestKind, isAllowed]);
      }
    }
  });
});
