import { describe, expect, it } from 'vitest';
import { cedarConfig } from '../../../../plugins/authorization/cedar/config.ts';
import { nestingProblem } from '../../../../plugins/authorization/cedar/nesting.ts';

const GOOD = 'permit(principal, action, resource);';
const policy = (condition: string) => `permit(principal, action, resource) when { ${condition} };`;
const around = (open: string, inner: string, close: string, times: number) =>
  open.repeat(times) + inner + close.repeat(times);

/** Texts by depth. Without a bound, 1000 of each break the parser for the rest of the process. */
const NESTED: Readonly<Record<string, (depth: number) => string>> = {
  parentheses: (depth) => around('(', 'true', ')', depth),
  lists: (depth) => `${around('[', '', ']', depth)} == []`,
  records: (depth) => `${around('{a:', '1', '}', depth)} == {}`,
  'lists with sums': (depth) => `${around('[1 + 1 + ', '1', ']', depth)} == []`,
  ifs: (depth) => around('if true then ', 'true', ' else true', depth),
  'else ifs': (depth) => `${'if true then true else '.repeat(depth)}true`,
  calls: (depth) => around('context.a.contains(', '1', ')', depth),
  ands: (depth) => `${'true && '.repeat(depth * 30)}true`,
  ors: (depth) => `${'true || '.repeat(depth * 30)}true`,
  sums: (depth) => `${'1 + '.repeat(depth * 30)}1 == 1`,
  members: (depth) => `context${'.a'.repeat(depth * 60)} == 1`,
};

describe('policies that are nested too deeply', () => {
  it.each(Object.entries(NESTED))(
    '%s are refused before the parser sees them, and later policies are read',
    (_name, text) => {
      for (const depth of [200, 1_000, 3_000]) {
        const read = cedarConfig.safeParse({ policies: [GOOD, policy(text(depth))] });
        expect(read.error?.issues[0]?.path).toEqual(['policies', 1]);
        expect(read.error?.issues[0]?.message).toMatch(/^(is nested more|has more|reads more|longer) than \d+/);
      }
      expect(cedarConfig.safeParse({ policies: [GOOD] }).success).toBe(true);
    },
  );

  it.each(Object.entries(NESTED))('%s within the bounds are read', (_name, text) => {
    expect(cedarConfig.safeParse({ policies: [policy(text(30))] }).error).toBeUndefined();
  });

  it('all bounds at once are within what the parser can take', () => {
    const each = around(
      'if true && true && true && true && true && true && true && true then (',
      'true',
      ') else true',
      40,
    );
    const rest = `${'true && '.repeat(600)}true`;
    expect(cedarConfig.safeParse({ policies: [policy(`${each} && ${rest}`)] }).error).toBeUndefined();
    const read = policy(`context${'.a'.repeat(1_900)} == 1 && ${'true && '.repeat(900)}true`);
    expect(cedarConfig.safeParse({ policies: [read, GOOD] }).error).toBeUndefined();
  });

  it('brackets in strings and comments do not count, and each policy counts for itself', () => {
    const text = `// ${'('.repeat(500)}\n${policy(`context.a == "${'(\\"'.repeat(500)}"`)}`;
    expect(cedarConfig.safeParse({ policies: [text] }).error).toBeUndefined();
    const many = Array.from({ length: 100 }, () => policy(NESTED.ands?.(10) ?? '')).join('\n');
    expect(cedarConfig.safeParse({ policies: [many] }).error).toBeUndefined();
  });

  it.each([
    ['(', 48, 'is nested more than 48 deep'],
    ['if ', 48, 'has more than 48 times "if" in one policy'],
    ['&& ', 1_000, 'has more than 1000 operators in one policy'],
    ['.a', 2_000, 'reads more than 2000 members in one policy'],
  ])('as many %j as a bound are read, one more is not, also in a later policy', (token, bound, problem) => {
    expect(nestingProblem(token.repeat(bound))).toBeUndefined();
    expect(nestingProblem(token.repeat(bound + 1))).toBe(problem);
    expect(nestingProblem(`${GOOD}\n${token.repeat(bound)}`)).toBeUndefined();
    expect(nestingProblem(`${GOOD}\n${token.repeat(bound + 1)}`)).toBe(problem);
  });

  it('entities that are nested too deeply are refused, and later ones are read', () => {
    for (const depth of [200, 1_000, 100_000]) {
      const entity = `{"uid":{"type":"A","id":"a"},"parents":[],"attrs":${around('{"a":', '1', '}', depth)}}`;
      for (const entitiesJson of [`[${entity}]`, around('[', '', ']', depth)]) {
        const read = cedarConfig.safeParse({ policies: [GOOD], entitiesJson });
        expect(read.error?.issues[0]).toMatchObject({ path: ['entitiesJson'], message: 'is nested more than 48 deep' });
      }
    }
    expect(cedarConfig.safeParse({ policies: [GOOD], entitiesJson: '[]' }).success).toBe(true);
  });
});
