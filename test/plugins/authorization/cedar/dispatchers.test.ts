import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { judge } from './support.ts';

const DISPATCHERS = ['execute_tool_script', 'find_tool', 'call_tool'] as const;
const NOT_THESE = 'permit(principal == Client::"other", action, resource);';

/** The dispatchers that a caller may call and list. */
async function accessOf(policies: readonly string[], asked: { subject?: string; claims?: object } = {}) {
  const { ask } = await judge([NOT_THESE, ...policies]);
  const allowed: string[] = [];
  for (const name of DISPATCHERS) {
    const said = await ask({
      ...(asked as object),
      name,
      entry: { isDispatcher: true },
      arguments: { script: 'return 1' },
    });
    expect([name, said.listed]).toEqual([name, said.isAllowed]);
    if (said.isAllowed) allowed.push(name);
  }
  return allowed;
}

describe('a dispatcher', () => {
  it('needs no permit', async () => {
    expect(await accessOf([])).toEqual(DISPATCHERS);
  });

  proves(
    'choice.authorization.ways-in-forbidden',
    'is refused and not listed when a forbid names it in any form',
    async () => {
      for (const name of DISPATCHERS) {
        const others = DISPATCHERS.filter((each) => each !== name);
        const forbids = [
          `forbid(principal, action, resource == Tool::"${name}");`,
          `forbid(principal == Client::"ada", action == Action::"call_tool", resource == Tool::"${name}");`,
          `forbid(principal, action, resource) when { resource == Tool::"${name}" };`,
          `forbid(principal, action, resource) when { resource in [Tool::"other", Tool::"${name}"] };`,
          `forbid(principal, action, resource) when { resource has name && resource.name == "${name}" };`,
          `forbid(principal, action, resource) when { ["x", "${name}"].contains(resource.name) };`,
        ];
        for (const forbid of forbids) expect([forbid, await accessOf([forbid])]).toEqual([forbid, others]);
      }
    },
  );

  proves(
    'choice.authorization.ways-in-forbidden',
    'is refused when a forbid depends only on the caller, for that caller only',
    async () => {
      const forbids = [
        'forbid(principal == Client::"ada", action, resource);',
        'forbid(principal, action == Action::"call_tool", resource) when { principal has claim_away && principal.claim_away };',
        'forbid(principal in THVGroup::"guests", action, resource is Tool);',
        'forbid(principal in THVGroup::"guests", action, resource in MCP::"test-gateway");',
      ];
      const ada = { subject: 'ada', claims: { away: true, groups: ['guests'] } };
      for (const forbid of forbids) {
        expect([forbid, await accessOf([forbid], ada)]).toEqual([forbid, []]);
        expect([forbid, await accessOf([forbid], { subject: 'bob' })]).toEqual([forbid, DISPATCHERS]);
      }
    },
  );

  it('is allowed when a forbid applies to tools and does not name it', async () => {
    const forbids = [
      'forbid(principal, action, resource) unless { resource has readOnlyHint && resource.readOnlyHint };',
      'forbid(principal, action, resource) unless { context has arg_env && context.arg_env == "staging" };',
      'forbid(principal, action, resource == Tool::"deploy");',
      'forbid(principal, action, resource in MCP::"another gateway");',
      'forbid(principal, action, resource) when { resource.destructiveHint };',
      'forbid(principal, action, resource) unless { resource == Tool::"execute_tool_script" || resource.name == "find_tool" || resource == Tool::"call_tool" };',
    ];
    for (const forbid of forbids) expect([forbid, await accessOf([forbid])]).toEqual([forbid, DISPATCHERS]);
  });

  it('is refused when the policy that names it fails, and for an undecidable caller', async () => {
    const failing = 'forbid(principal, action, resource == Tool::"find_tool") when { principal.claim_absent };';
    expect(await accessOf([failing])).toEqual(['execute_tool_script', 'call_tool']);
    const naming = 'forbid(principal, action, resource == Tool::"find_tool") when { false };';
    expect(await accessOf([naming], { subject: '' })).toEqual(['execute_tool_script', 'call_tool']);
  });

  it('is listed when a forbid names it with some arguments, and refused with those', async () => {
    const { ask } = await judge([
      NOT_THESE,
      'forbid(principal, action, resource == Tool::"execute_tool_script") when { context has arg_data_present };',
    ]);
    const call = (given: object) =>
      ask({ name: 'execute_tool_script', entry: { isDispatcher: true }, arguments: { script: 'x', ...given } });
    expect(await call({})).toMatchObject({ listed: true, isAllowed: true });
    expect(await call({ data: {} })).toMatchObject({ listed: true, isAllowed: false, policies: ['policies[1]'] });
  });
});
