import { describe, expect } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { judge } from './support.ts';

const PERMIT = '@id("all") permit(principal, action, resource);';
const KIB = 1_024;
const WIDE = '\u6f22';

describe('a large value', () => {
  proves(
    'choice.authorization.large-values-deny',
    'is denied where a policy reads it, and is not evaluated',
    async () => {
      const conditions = [
        'context.arg_x like "*secret*"',
        'context.arg_x == "secret"',
        'context has arg_x',
        '["secret"].contains(context.arg_x)',
      ];
      for (const condition of conditions) {
        const { ask } = await judge([
          PERMIT,
          `@id("no") forbid(principal, action, resource == Tool::"post") when { context has arg_x && ${condition} } unless { context.arg_x like "fine*" };`,
        ]);
        expect((await ask({ name: 'post', arguments: { x: 'fine'.padEnd(64 * KIB) } })).isAllowed).toBe(true);
        for (const x of ['x'.repeat(64 * KIB + 1), WIDE.repeat(22 * KIB), WIDE.repeat(2_600_000)]) {
          const before = process.cpuUsage();
          expect(await ask({ name: 'post', arguments: { x } })).toMatchObject({
            isAllowed: false,
            policies: ['no'],
            reason: 'the argument "x" is larger than 65536 bytes',
          });
          const { user, system } = process.cpuUsage(before);
          expect(user + system).toBeLessThan(1_000_000); // 2 s and more when it was evaluated
          expect((await ask({ name: 'save', arguments: { x } })).isAllowed).toBe(true);
        }
      }
    },
  );

  proves('choice.authorization.large-values-deny', 'is denied in a claim as well', async () => {
    const { ask } = await judge([
      'permit(principal, action, resource) unless { principal has claim_x && principal.claim_x == "y" };',
    ]);
    for (const x of ['x'.repeat(64 * KIB + 1), ['x'.repeat(64 * KIB + 1)], { a: 'x'.repeat(64 * KIB + 1) }]) {
      expect(await ask({ claims: { x } })).toMatchObject({
        isAllowed: false,
        reason: 'the claim "x" is not a Cedar value',
      });
    }
    expect((await ask({ claims: { x: 'x'.repeat(64 * KIB) } })).isAllowed).toBe(true);
    const many = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`x${n}`, 'x'.repeat(60 * KIB)]));
    const reading = Array.from({ length: 4 }, (_, n) => `(principal has claim_x${n} && principal.claim_x${n} == "y")`);
    const sum = await judge([`permit(principal, action, resource) unless { ${reading.join(' || ')} };`]);
    expect(await sum.ask({ claims: many })).toMatchObject({
      isAllowed: false,
      reason: 'the claims and groups that policies read are larger than 131072 characters',
    });
  });

  proves(
    'choice.authorization.evaluation-budget',
    'is denied at a smaller size when many policies read it, so that one evaluation keeps its time budget',
    async () => {
      const many = Array.from(
        { length: 400 },
        (_, n) =>
          `forbid(principal, action, resource) when { context has arg_x && context.arg_x like "*secret${n}*" };`,
      );
      const { ask, core } = await judge([PERMIT, ...many]);
      const sizes = [KIB, 4 * KIB, 64 * KIB];
      const allowed = [];
      for (const size of sizes) {
        const said = await ask({ arguments: { x: 'secret'.repeat(size).slice(0, size) } });
        allowed.push(said.isAllowed);
        if (!said.isAllowed) expect(said.reason).toMatch(/^the argument "x" is larger than \d+ bytes$/);
      }
      expect(allowed).toEqual([true, true, false]);
      expect(core.lines.some(({ message }) => message.includes('that larger arguments are denied'))).toBe(true);
    },
  );

  proves(
    'choice.authorization.evaluation-budget',
    'is denied at a smaller size when many policies make an extension value of it, whose errors repeat it',
    async () => {
      for (const [condition, limit] of [
        ['decimal(context.arg_x).lessThan(decimal("1.0"))', 5 * KIB],
        ['ip(context.arg_x).isLoopback()', 5 * KIB],
      ] as const) {
        const many = Array.from({ length: 400 }, () => `forbid(principal, action, resource) when { ${condition} };`);
        const { ask } = await judge([PERMIT, ...many]);
        const said = await ask({ arguments: { x: '\u0001'.repeat(limit) } });
        expect([said.isAllowed, said.reason]).toEqual([false, expect.stringMatching(/is larger than \d+ bytes$/)]);
        expect((await ask({ arguments: { x: '\u0001'.repeat(limit / 2) } })).failed.length).toBeGreaterThan(0);
      }
    },
  );

  proves('choice.authorization.evaluation-budget', 'counts together with the others that policies read', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `x${n}`);
    const reading = names.map((name) => `(context has arg_${name} && context.arg_${name} == "secret")`);
    const { ask } = await judge([PERMIT, `forbid(principal, action, resource) when { ${reading.join(' || ')} };`]);
    const given = (count: number) =>
      Object.fromEntries(names.slice(0, count).map((name) => [name, 'x'.repeat(60 * KIB)]));
    expect((await ask({ arguments: given(1) })).isAllowed).toBe(true);
    const said = await ask({ arguments: given(12) });
    expect([said.isAllowed, said.reason]).toEqual([false, 'the arguments that policies read are too large together']);
  });
});
