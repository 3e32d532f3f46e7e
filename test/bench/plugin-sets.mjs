// The plugins of the gateways under test, beside those that every plan has.

/**
 * `audit`: what most rows measure. `off`: nothing but what a plan cannot do without. `guarded`: callers known by OIDC,
 * ten Cedar policies, rate limits in memory, audit to a file; `issuer`, `jwksUrl` and `audience` are of its tokens.
 */
export function pluginSet(name, { issuer, jwksUrl, audience, auditFile }) {
  const audit = { use: 'audit', with: { logFile: auditFile } };
  const anonymous = { use: 'incoming-auth/anonymous' };
  const sets = {
    off: [anonymous],
    audit: [anonymous, audit],
    guarded: [
      {
        use: 'incoming-auth/oidc',
        with: {
          issuer,
          jwksUrl,
          clientId: 'bench',
          audience,
          insecureAllowHttp: true,
          jwksAllowPrivateIp: true,
        },
      },
      { use: 'authorization/cedar', with: { policies: POLICIES } },
      { use: 'stores/memory' },
      {
        use: 'rate-limit',
        with: { shared: BUCKET, perUser: BUCKET, tools: [{ name: 'far_tool_0', perUser: BUCKET }] },
      },
      audit,
    ],
  };
  const set = sets[name];
  if (set === undefined) throw new Error(`no plugin set is named "${name}", only ${Object.keys(sets).join(', ')}`);
  return set;
}

/** Never empty under any load, so that every call takes its tokens and none is refused. */
const BUCKET = { maxTokens: 2_147_483_647, refillPeriod: '1s' };

/** Groups, claims, names, hints and arguments: what policies usually look at. All ten are asked about each decision. */
const POLICIES = [
  'permit(principal in THVGroup::"bench", action == Action::"call_tool", resource);',
  'permit(principal in THVGroup::"admins", action, resource);',
  'permit(principal in THVGroup::"readers", action == Action::"read_resource", resource);',
  'permit(principal, action == Action::"call_tool", resource == Tool::"far_tool_9");',
  'permit(principal, action == Action::"call_tool", resource) when { resource has readOnlyHint && resource.readOnlyHint };',
  'permit(principal, action == Action::"get_prompt", resource) when { principal has claim_team && principal.claim_team == "docs" };',
  'forbid(principal, action, resource) when { principal has claim_suspended && principal.claim_suspended };',
  'forbid(principal, action == Action::"call_tool", resource) when { context has arg_text && context.arg_text like "*DROP TABLE*" };',
  'forbid(principal, action == Action::"call_tool", resource) when { context has arg_count && context.arg_count > 1000000000 };',
  'forbid(principal, action == Action::"call_tool", resource) when { resource has destructiveHint && resource.destructiveHint } unless { principal in THVGroup::"admins" };',
];
