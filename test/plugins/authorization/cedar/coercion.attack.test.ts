import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { judge } from './support.ts';

const PERMIT = '@id("all") permit(principal, action, resource);';

describe('an argument that a server may turn into what a policy forbids', () => {
  const forbids = (condition: string) => [
    PERMIT,
    `@id("no") forbid(principal, action, resource) when { ${condition} };`,
  ];

  proves(
    'choice.authorization.containers-deny',
    'is denied in an array or an object, whatever the policy does with it',
    async () => {
      const conditions = [
        'context has arg_amount && context.arg_amount > 100',
        'context has arg_amount && context.arg_amount == 101',
        'context has arg_amount && [101, 102].contains(context.arg_amount)',
        'resource has arg_amount && resource.arg_amount > 100',
        'context has arg_amount',
        'context has arg_amount.value && context.arg_amount.value > 100',
        'context has arg_amount && context.arg_amount like "*1*"',
        '!(context has arg_amount) == false',
        'if context has arg_amount then context.arg_amount > 100 else false',
      ];
      for (const condition of conditions) {
        const { ask } = await judge(forbids(condition));
        for (const amount of [[101], [[101]], { value: 101 }, { 0: 101 }, [], {}]) {
          const { isAllowed, reason, policies } = await ask({ arguments: { amount } });
          expect([condition, amount, isAllowed, reason, policies]).toEqual([
            condition,
            amount,
            false,
            'the argument "amount" is an array or object, and a policy reads a single value',
            ['no'],
          ]);
        }
        expect((await ask({ arguments: { other: [101] } })).isAllowed).toBe(true);
        expect((await ask({ arguments: { amount: null } })).isAllowed).toBe(true);
      }
    },
  );

  proves('choice.authorization.containers-deny', 'counts for permits too: a container opens no exception', async () => {
    const { ask } = await judge([
      '@id("env") permit(principal, action, resource) unless { context has arg_env && context.arg_env == "prod" };',
    ]);
    expect((await ask({ arguments: { env: 'staging' } })).isAllowed).toBe(true);
    expect((await ask({ arguments: { env: 'prod' } })).isAllowed).toBe(false);
    expect((await ask({ arguments: { env: ['prod'] } })).isAllowed).toBe(false);
  });

  proves('choice.authorization.containers-deny', 'is decided by a policy that asks for containers itself', async () => {
    const { ask } = await judge(
      forbids(
        '(context has arg_amount && context.arg_amount > 100) || (context has arg_amount_present && resource == Tool::"pay")',
      ),
    );
    expect((await ask({ name: 'pay', arguments: { amount: [101] } })).policies).toEqual(['no']);
    expect((await ask({ name: 'plot', arguments: { amount: [101] } })).isAllowed).toBe(true);
    expect((await ask({ name: 'pay', arguments: { amount: 100 } })).isAllowed).toBe(true);
  });

  proves(
    'choice.authorization.other-type-denies',
    'is denied as a value of another type than the policy compares with',
    async () => {
      const cases = [
        ['context.arg_x == 101', '100', ['"101"', '101.5', 'true', '"0x65"', '"1.01e2"']],
        ['context.arg_x != 7 && context.arg_x > 100', '100', ['"101"', 'true']],
        ['[101, 102].contains(context.arg_x)', '100', ['"101"', '101.5']],
        ['["prod", "live"].contains(context.arg_x)', '"test"', ['1', 'true']],
        ['context.arg_x == true', 'false', ['"true"', '1', '"on"']],
        ['resource.arg_x == "prod"', '"test"', ['1']],
        ['"prod" == resource.arg_x', '"test"', ['1']],
        ['context.arg_x > 100', '100', ['"101"', 'true', '100.5']],
        ['context.arg_x like "*secret*"', '"open"', ['1', 'true']],
        ['principal has claim_n && context.arg_x == principal.claim_n', '8', ['"7"', 'true']],
        ['context.arg_x == context.arg_y', '8', ['"7"']],
      ] as const;
      for (const [condition, good, bad] of cases) {
        const { ask } = await judge(forbids(`context has arg_x && ${condition}`));
        const decided = async (x: string) =>
          (await ask({ claims: { n: 7 }, rawArguments: `{"x":${x},"y":7}` })).isAllowed;
        expect([condition, good, await decided(good)]).toEqual([condition, good, true]);
        for (const x of bad) expect([condition, x, await decided(x)]).toEqual([condition, x, false]);
      }
    },
  );

  it('has the same value in every spelling of JSON, and another one only where the text differs', async () => {
    const { ask } = await judge(forbids('context has arg_x && (context.arg_x == 100 || context.arg_x == "admin")'));
    for (const x of ['100', '1e2', '100.0', '1.0E+2', '"\\u0061dmin"', '"adm\\u0069n"']) {
      expect([x, (await ask({ rawArguments: `{"x":${x}}` })).isAllowed]).toEqual([x, false]);
      expect([x, (await ask({ rawArguments: `{"\\u0078":${x}}` })).isAllowed]).toEqual([x, false]);
    }
    expect((await ask({ rawArguments: '{"x":99}' })).isAllowed).toBe(true);
    expect((await ask({ rawArguments: '{"x":"guest"}' })).isAllowed).toBe(true);
  });

  it('denies only what the policy is about: another tool, group or caller may pass it', async () => {
    const { ask } = await judge([
      PERMIT,
      'forbid(principal, action, resource == Tool::"pay") when { context has arg_x && context.arg_x > 100 };',
      'forbid(principal in THVGroup::"guests", action, resource) when { context has arg_x && context.arg_x == "y" };',
      'forbid(principal, action, resource) when { resource.name == "send" && context has arg_x && context.arg_x == 1 };',
      'forbid(principal, action == Action::"get_prompt", resource) when { context has arg_x };',
    ]);
    for (const x of [[101], 'long'.repeat(20_000), 2 ** 53]) {
      expect((await ask({ name: 'plot', arguments: { x } })).isAllowed).toBe(true);
      expect((await ask({ name: 'pay', arguments: { x } })).isAllowed).toBe(false);
      expect((await ask({ name: 'send', arguments: { x } })).isAllowed).toBe(false);
      expect((await ask({ name: 'plot', claims: { groups: ['guests'] }, arguments: { x } })).isAllowed).toBe(false);
    }
  });
});
