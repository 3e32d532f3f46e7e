import type { JsonObject } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import fc from '../../../support/fast-check.ts';
import { proves } from '../../../support/proves.ts';
import { type Judge, judge } from './support.ts';

const names = ['a', 'b', 'c'] as const;
const kinds = ['tool', 'prompt', 'resource'] as const;

/** Conditions that read claims, with or without `has`. */
const aboutClaims = fc.constantFrom(
  'principal has claim_x && principal.claim_x == 1',
  'principal.claim_x == 1',
  'context.claim_y',
  'principal in THVGroup::"g"',
  'resource.name like "a*"',
  'resource has backend && resource.backend == "far"',
  'true',
);

/** Conditions that read arguments, with or without `has`, also through the whole context. */
const aboutArguments = fc.constantFrom(
  'context has arg_p && context.arg_p == 1',
  'context.arg_p == 1',
  'resource has arg_q && resource.arg_q',
  'resource["arg_q"]',
  'context has arg_r_present',
  'context == {arg_p: 1}',
  '{attr: context}.attr has arg_p',
  'principal has claim_x && context has arg_p && principal.claim_x == context.arg_p',
);

const condition = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(aboutClaims, aboutArguments),
  tree: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `(${one} && ${other})`),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `(${one} || ${other})`),
    tie('tree').map((one) => `!(${one})`),
    fc
      .tuple(tie('tree'), tie('tree'), tie('tree'))
      .map(([when, one, other]) => `(if ${when} then ${one} else ${other})`),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `((${one}) == (${other}))`),
  ),
}));

const scope = fc.tuple(
  fc.constantFrom('principal', 'principal == Client::"ada"', 'principal in THVGroup::"g"'),
  fc.constantFrom(
    'action',
    'action == Action::"call_tool"',
    'action in [Action::"get_prompt", Action::"read_resource"]',
  ),
  fc.constantFrom('resource', 'resource == Tool::"a"', 'resource is Tool', 'resource in MCP::"test-gateway"'),
);

const policyWith = (body: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom('permit', 'permit', 'forbid'), scope, fc.constantFrom('', 'when', 'unless'), body)
    .map(
      ([effect, parts, clause, text]) =>
        `${effect}(${parts.join(', ')})${clause === '' ? '' : ` ${clause} { ${text} }`};`,
    );

const caller = fc.record({
  subject: fc.constantFrom('ada', 'bob'),
  claims: fc.record(
    { x: fc.constantFrom(1, 'one'), y: fc.boolean(), groups: fc.constantFrom('g', 'h') },
    { requiredKeys: [] },
  ),
});

const given = fc.record(
  {
    p: fc.constantFrom(1, 2, 'x'),
    q: fc.constantFrom(true, false, 'x'),
    r: fc.constantFrom<readonly string[] | string>([], 'x'),
  },
  { requiredKeys: [] },
);

describe('lists and calls', () => {
  proves(
    ['choice.order.list-and-call-agree', 'choice.authorization.unlisted-is-refused'],
    'are consistent: an entry that is not listed is refused with any arguments',
    async () => {
      const policies = fc.array(policyWith(condition.tree), {
        minLength: 1,
        maxLength: 4,
      });
      let refused = 0;
      let passed = 0;
      await fc.assert(
        fc.asyncProperty(
          policiesOf(policies),
          caller,
          fc.array(given, { minLength: 1, maxLength: 3 }),
          async (open, who, tries) => {
            const { ask } = await open;
            for (const kind of kinds) {
              for (const name of names) {
                for (const each of tries as JsonObject[]) {
                  const said = await ask({ ...who, kind, name, arguments: each });
                  if (said.isAllowed) passed++;
                  else refused++;
                  expect([kind, name, each, said.isAllowed && !said.listed]).toEqual([kind, name, each, false]);
                }
              }
            }
          },
        ),
        { numRuns: 300 },
      );
      expect([passed > 100, refused > 100]).toEqual([true, true]); // the generator produces both cases
    },
  );

  proves(
    'choice.order.list-and-call-agree',
    'have the same decision when no policy reads arguments, and always for resources',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          policiesOf(fc.array(policyWith(aboutClaims), { minLength: 1, maxLength: 4 })),
          caller,
          given,
          async (open, who, each) => {
            const { ask } = await open;
            for (const kind of kinds) {
              const said = await ask({ ...who, kind, name: 'a', arguments: each as JsonObject });
              expect([kind, said.listed]).toEqual([kind, said.isAllowed]);
            }
          },
        ),
        { numRuns: 80 },
      );
      await fc.assert(
        fc.asyncProperty(
          policiesOf(fc.array(policyWith(aboutArguments), { minLength: 1, maxLength: 3 })),
          caller,
          async (open, who) => {
            const said = await (await open).ask({ ...who, kind: 'resource', name: 'a' });
            expect(said.listed).toBe(said.isAllowed);
          },
        ),
        { numRuns: 60 },
      );
    },
  );

  proves(
    'choice.authorization.lists-unknown-arguments',
    'are consistent for a condition that is nested too deeply for JSON',
    async () => {
      const chain = Array.from({ length: 300 }, (_, index) => `context.arg_x == "${index}"`).join(' || ');
      const { ask } = await judge([
        `permit(principal in THVGroup::"dev", action, resource) when { context has arg_x && (${chain}) };`,
        `forbid(principal, action, resource == Tool::"b") when { context has arg_x && (${chain}) };`,
      ]);
      const dev = { groups: ['dev'] };
      expect(await ask({ name: 'a', claims: dev, arguments: { x: '7' } })).toMatchObject({
        isAllowed: true,
        listed: true,
      });
      expect(await ask({ name: 'b', claims: dev, arguments: { x: '7' } })).toMatchObject({
        isAllowed: false,
        listed: true,
      });
      expect(await ask({ name: 'a', arguments: { x: '7' } })).toMatchObject({ isAllowed: false, listed: false });
    },
  );
});

/** Booted policies; skips those that Cedar itself rejects. */
function policiesOf(texts: fc.Arbitrary<readonly string[]>): fc.Arbitrary<Promise<Judge>> {
  return texts.map((each) => judge([...each]));
}
