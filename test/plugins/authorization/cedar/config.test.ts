import { explainIssues } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { callerOf, cedar, entryOf, judge, type Settings } from './support.ts';

const PERMIT = 'permit(principal, action, resource);';

const problems = (given: object): string[] => {
  const read = cedar.config.safeParse(given);
  return read.success ? [] : explainIssues('authz', cedar.config, read.error);
};

describe('a configuration', () => {
  const WRONG: readonly [object, RegExp][] = [
    [{}, /authz\.policies/],
    [{ policies: [] }, /authz\.policies: expected at least one policy/],
    [
      { policies: [PERMIT, 'permit(principal, action,\n resource) when { context.x == "é" + };'] },
      /^authz\.policies\[1\]: line 2, column 38: unexpected token/,
    ],
    [{ policies: ['// nothing'] }, /authz\.policies\[0\]: contains no policy/],
    [{ policies: [`${PERMIT}\npermit(principal == ?principal, action, resource);`] }, /line 2, column 1: templates/],
    [
      { policies: [`@id("a") ${PERMIT}`, `@id("a") ${PERMIT}`] },
      /policies\[1\]: duplicate id "a", already used by policies\[0\]/,
    ],
    [
      { policies: ['permit(principal, action, resource) when { nope(principal) };'] },
      /policies\[0\]: line 1, column \d+: .*nope/,
    ],
    [{ policies: ['x'.repeat(262_145)] }, /policies\[0\]: longer than 262144 characters/],
    [
      { policies: [`${PERMIT}\n  permit(principal, action == Action::"call_tol", resource);`] },
      /^authz\.policies\[0\]: line 2, column 31: there is no Action::"call_tol", did you mean Action::"call_tool"\?$/,
    ],
    [
      { policies: ['permit(principal, action in [Action::"call_tool", Action::"list_tools"], resource);'] },
      /column 51: Action::"list_tools" is not used: lists show what Action::"call_tool" permits/,
    ],
    [
      { policies: ['permit(principal, action, resource) when { action == Action::"delete" };'] },
      /no Action::"delete", \(known:/,
    ],
    [
      { policies: ['permit(principal, action == NS::Action::"call_tool", resource);'] },
      /there is no NS::Action::"call_tool"/,
    ],
    [{ policies: [PERMIT], entitiesJson: '[{]' }, /authz\.entitiesJson: is not JSON: .*line 1 column 3/],
    [{ policies: [PERMIT], entitiesJson: '{}' }, /expected a JSON array/],
    [
      { policies: [PERMIT], entitiesJson: '[{"uid":{"type":"A","id":"a"},"attrs":{"n":1.5},"parents":[]}]' },
      /entitiesJson: \[0\]: /,
    ],
    [{ policies: [PERMIT], entitiesJson: '[7]' }, /entitiesJson: \[0\]: /],
    [
      {
        policies: [PERMIT],
        entitiesJson: `[${'{"uid":{"type":"A","id":"a"},"attrs":{},"parents":[]},'.repeat(2).slice(0, -1)}]`,
      },
      /\[1\]: duplicate entity A::"a"/,
    ],
    [
      {
        policies: [PERMIT],
        entitiesJson: JSON.stringify(
          [
            ['a', 'b'],
            ['b', 'a'],
          ].map(([id, parent]) => ({ uid: { type: 'A', id }, attrs: {}, parents: [{ type: 'A', id: parent }] })),
        ),
      },
      /entitiesJson: .*cycle/,
    ],
    [{ policies: [PERMIT], groupClaimName: 'x'.repeat(254) }, /groupClaimName/],
    [{ policies: [PERMIT], roleClaimName: 'x'.repeat(254) }, /roleClaimName/],
    [{ policies: [PERMIT], groupEntityType: 'NS::Group' }, /groupEntityType: expected letters, digits and underscores/],
    [{ policies: [PERMIT], groupEntityType: '1Group' }, /groupEntityType/],
    [{ policies: [PERMIT], groupEntityType: 'x'.repeat(64) }, /groupEntityType/],
    [{ policies: [PERMIT], groupEntityType: 'Client' }, /groupEntityType: is reserved/],
    [{ policies: [PERMIT], groupEntityType: 'in' }, /groupEntityType: is reserved/],
    [{ policies: [PERMIT], groupClaimNames: 'x' }, /unknown key "groupClaimNames", did you mean "groupClaimName"\?/],
    [{ policies: [PERMIT], primaryUpstreamProvider: 'GitHub' }, /primaryUpstreamProvider: expected a name of 1 to 63/],
    [{ policies: [PERMIT], primaryUpstreamProvider: 'x'.repeat(64) }, /primaryUpstreamProvider/],
  ];

  proves(
    'choice.authorization.found-at-start',
    'with errors is refused with path, position and what was expected',
    () => {
      for (const [given, sentence] of WRONG) {
        const found = problems(given);
        expect([JSON.stringify(given).slice(0, 200), found]).toEqual([
          JSON.stringify(given).slice(0, 200),
          [expect.stringMatching(sentence)],
        ]);
      }
    },
  );

  it('reports every invalid policy, not only the first', () => {
    expect(problems({ policies: ['a', PERMIT, 'b'], entitiesJson: 'x' })).toHaveLength(3);
  });

  proves(
    [
      'vmcp.config-incoming.authz-entities-json',
      'vmcp.config-incoming.authz-primary-upstream-provider-empty',
      'vmcp.config-incoming.authz-group-entity-type',
    ],
    'has the defaults of the contract',
    async () => {
      expect(cedar.config.parse({ policies: [PERMIT] })).toEqual({
        policies: [PERMIT],
        entitiesJson: '[]',
        groupEntityType: 'THVGroup',
        primaryUpstreamProvider: '',
      });
      const empty = await judge({
        policies: ['permit(principal in THVGroup::"dev", action, resource);'],
        groupEntityType: '',
      });
      expect((await empty.ask({ claims: { groups: ['dev'] } })).isAllowed).toBe(true);
      const issued = await judge({
        policies: ['permit(principal, action, resource) when { principal.claim_iss == "issued" };'],
        primaryUpstreamProvider: '',
      });
      expect((await issued.ask({ claims: { iss: 'issued' } })).isAllowed).toBe(true);
    },
  );

  it('may have many policies in one string, each with an id of its position', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const text = names.map((name) => `permit(principal, action, resource == Tool::"${name}");`).join('\n// next\n');
    const { ask } = await judge([text]);
    for (const [index, name] of names.entries()) {
      expect(await ask({ name })).toMatchObject({ isAllowed: true, policies: [`policies[0].${index}`] });
    }
  });

  it('logs warnings about misleading policies and entities', async () => {
    const settings: Settings = {
      policies: [
        '@id("a") permit(principal, action, resource) when { context.arg_x == principal.claim_y };',
        '@id("b") permit(principal, action, resource) when { context has arg_x && context.arg_x == "x" };',
      ],
      entitiesJson: '[{"uid":{"type":"Tool","id":"t"},"attrs":{},"parents":[]}]',
    };
    const { core } = await judge(settings);
    const warnings = core.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
    expect(warnings).toEqual([
      { policy: 'a', attributes: ['arg_x', 'claim_y'] },
      { entities: ['Tool::"t"'], count: 1 },
    ]);
  });

  it('is released when its gateway stops', async () => {
    const open = await judge(['permit(principal, action, resource) when { resource.name != "x" };']);
    expect((await open.ask()).isAllowed).toBe(true);
    const many = Array.from({ length: 200 }, (_, index) => entryOf('tool', `t${index}`));
    const underWay = open.shown(many, callerOf('bob'));
    await open.core.hooks.stopping.promise();
    await expect(open.ask()).rejects.toThrow('has not started, or has stopped');
    expect((await underWay).length).toBeLessThan(many.length);
    const next = await judge(['forbid(principal, action, resource);']);
    expect((await next.ask()).isAllowed).toBe(false);
  });

  it('is separate per gateway in one process', async () => {
    const [one, two] = [await judge([PERMIT]), await judge(['forbid(principal, action, resource);'])];
    expect([(await one.ask()).isAllowed, (await two.ask()).isAllowed]).toEqual([true, false]);
    expect([(await one.ask({ name: 'x' })).isAllowed, (await two.ask({ name: 'x' })).isAllowed]).toEqual([true, false]);
  });
});
