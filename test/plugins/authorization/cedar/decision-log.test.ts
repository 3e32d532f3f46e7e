import { UserActionRequired } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createDecisionLog } from '../../../../plugins/authorization/cedar/decision-log.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { callOf, judge } from './support.ts';

const POLICIES = [
  '@id("open") permit(principal, action, resource) unless { resource == Tool::"closed" };',
  '@id("closed") forbid(principal, action, resource == Tool::"closed");',
  '@id("fails") forbid(principal, action, resource == Tool::"fails") when { decimal(context.arg_x).lessThan(decimal("1.0")) };',
];

describe('the log', () => {
  proves(
    'choice.authorization.decision-log',
    'names the policies of every decision, and contains no claims or arguments',
    async () => {
      const { core, ask } = await judge(POLICIES);
      await ask({ name: 'a', claims: { password: 'secret-claim' }, arguments: { x: 'secret-argument' } });
      await ask({ name: 'closed' });
      await ask({ name: 'fails', arguments: { x: 'secret-argument' } });
      const lines = core.lines.filter(({ fields }) => 'policies' in fields);
      const common = { caller: 'ada', action: 'call_tool', claims: 'issued token', call: expect.any(String) };
      expect(lines).toEqual([
        {
          level: 'debug',
          message: 'allowed by policy',
          fields: { ...common, resource: 'Tool::"a"', policies: ['open'] },
        },
        {
          level: 'info',
          message: 'denied by policy',
          fields: { ...common, resource: 'Tool::"closed"', policies: ['closed'] },
        },
        {
          level: 'info',
          message: 'denied by policy',
          fields: { ...common, resource: 'Tool::"fails"', policies: ['open'], failed: ['fails'] },
        },
      ]);
      expect(JSON.stringify(core.lines)).not.toContain('secret-');
    },
  );

  proves('choice.authorization.decision-log', 'masks secrets in names and callers', async () => {
    const { core, ask } = await judge(['@id("all") permit(principal, action, resource == Tool::"one");']);
    await ask({ kind: 'resource', name: 'https://files.example/a?token=hunter-2-hunter&x=1' });
    await ask({ kind: 'resource', name: `x://${'a'.repeat(170)}?api_key=hunter-2-hunter` });
    await ask({ kind: 'resource', name: 'https://me:hunter-2-hunter@files.example/a' });
    await ask({ name: 'one', subject: 'Bearer hunter-2-hunter' });
    const lines = core.lines.filter(({ fields }) => 'policies' in fields);
    expect(lines).toHaveLength(4);
    expect(JSON.stringify(lines)).not.toContain('hunter');
    expect(lines[0]?.fields.resource).toBe('Resource::"https://files.example/a?token=[redacted]&x=1"');
  });

  proves(
    'choice.authorization.failing-policy-denies',
    'warns of a failed policy with its id, once a minute',
    async () => {
      const { core, ask } = await judge(POLICIES);
      const warnings = () => core.lines.filter(({ message }) => message.startsWith('a policy failed'));
      for (const x of ['one', 'two', 'three']) await ask({ name: 'fails', arguments: { x } });
      expect(warnings().map(({ level, fields }) => [level, fields])).toEqual([
        [
          'warn',
          {
            policy: 'fails',
            error: expect.stringMatching(/`decimal` extension function: `…` is not a well-formed decimal/),
            count: 1,
          },
        ],
      ]);
      core.clock.nowMs += 60_000;
      await ask({ name: 'fails', arguments: { x: 'four' } });
      expect(warnings()).toHaveLength(2);
    },
  );

  it('warns of a failed policy that removes an entry from a list', async () => {
    const { core, shown } = await judge([
      '@id("f") permit(principal, action, resource) when { principal.claim_x == 1 };',
    ]);
    const call = callOf({});
    expect(await shown([call.target], call.caller)).toEqual([]);
    expect(core.lines.filter(({ fields }) => fields.policy === 'f' && 'error' in fields)).toHaveLength(1);
  });

  it('is bounded: more than fifty denials per second are only counted', async () => {
    const { core } = await judge(POLICIES);
    const deny = () => core.hooks.authorize.promise(callOf({ name: 'closed' }));
    for (let n = 0; n < 200; n++) await deny();
    const lines = () => core.lines.filter(({ message }) => message === 'denied by policy');
    expect(lines()).toHaveLength(50);
    core.clock.nowMs += 1_000;
    await deny();
    expect(lines()).toHaveLength(51);
    expect(lines().at(-1)?.fields.suppressed).toBe(150);
  });

  it('cuts long names of clients', async () => {
    const { core, ask } = await judge(['permit(principal, action, resource == Tool::"a");']);
    await ask({ name: 'x'.repeat(100_000), isMissing: true });
    expect(JSON.stringify(core.lines).length).toBeLessThan(1_000);
  });

  it('says why claims cannot be read, without the claims and without the link', () => {
    const core = pluginCore();
    const log = createDecisionLog(core, 'upstream provider corp');
    const caller = { issuer: 'i', subject: 'person-1', key: 'k', claims: { password: 'secret-claim' } };
    log.unreadable(
      caller,
      new UserActionRequired('connect your account at corp', 'https://gw.test/?ticket=secret-ticket'),
    );
    expect(core.lines).toEqual([
      {
        level: 'info',
        message: 'denied, because the claims cannot be read',
        fields: {
          caller: 'person-1',
          claims: 'upstream provider corp',
          code: 'USER_ACTION_REQUIRED',
          why: 'connect your account at corp',
        },
      },
    ]);
  });
});
