// Plugins of the gateways under test, in addition to those of every plan.

/**
 * `audit`: for most rows. `off`: only required plugins. `guarded`: OIDC, ten Cedar policies, rate limits in memory, audit to
 * a file; `issuer`, `jwksUrl` and `audience` belong to its tokens.
 * `composites`: `off` and the composite tools of `composites.ts`.
 */
export function pluginSet(name, { issuer, jwksUrl, audience, auditFile }) {
  const audit = { use: 'audit', with: { logFile: auditFile } };
  const anonymous = { use: 'incoming-auth/anonymous' };
  const sets = {
    off: [anonymous],
    composites: [anonymous, { use: 'composite/engine', with: { compositeTools: COMPOSITES } }],
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

/** Composite tools of so many steps, each of which calls a tool: `chain_N` one after the other, `fan_N` all at once. */
const COMPOSITES = [
  ...[1, 5, 10].map((steps) => composite(`chain_${steps}`, steps, (n) => (n === 1 ? [] : [`s${n - 1}`]))),
  composite('fan_10', 10, () => []),
];

function composite(name, steps, dependsOn) {
  return {
    name,
    description: `Calls a tool ${steps} times`,
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    steps: Array.from({ length: steps }, (_, index) => {
      const before = dependsOn(index + 1);
      const text = before.length === 0 ? '{{ .params.text }}' : `{{ .steps.${before[0]}.output.text }}`;
      return { id: `s${index + 1}`, tool: 'far.tool_0', dependsOn: before, arguments: { text } };
    }),
  };
}

/** Large enough for any load, so that every call takes tokens and none is refused. */
const BUCKET = { maxTokens: 2_147_483_647, refillPeriod: '1s' };

/** Typical policies on groups, claims, names, hints and arguments. Each decision evaluates all ten. */
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
