import { explainIssues, findPlugin, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { type IssuerAddress, issuerAddressProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { UsageError } from '../../shared/usage-error.ts';

/** Plugins whose configuration comes from options, and how error messages name them. */
const CHECKED: Readonly<Record<string, string>> = {
  audit: '--audit-config',
  aggregation: '--tools, --tools-override',
  telemetry: '--otel options',
  'rate-limit': 'rate_limit_config',
  'stores/redis': 'scaling_config.session_redis',
  'authorization/cedar': '--authz-config',
  'incoming-auth/oidc': '--oidc options',
  'auth-server': 'embedded_auth_server_config',
};

/**
 * Reads the settings that options made for plugins, before anything is started.
 * @throws UsageError with one line per fault. Values are not repeated
 */
export async function checkPlan(plan: PlanInput): Promise<void> {
  const places = { catalogue, baseDir: '/' };
  const problems: string[] = [];
  for (const { use, with: given } of plan.plugins) {
    const where = Object.hasOwn(CHECKED, use) ? CHECKED[use] : undefined;
    if (where === undefined) continue;
    const { config } = await findPlugin(use, places);
    const read = config.safeParse(given ?? {});
    if (!read.success) problems.push(...explainIssues(where, config, read.error));
  }
  problems.push(...issuerProblems(plan), ...(await strategyProblems(plan)));
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
}

/** The keys of an issuer are fetched, unless the plan has an authorization server of its own. */
function issuerProblems({ plugins }: PlanInput): readonly string[] {
  const use = plugins.find((each) => each.use === 'incoming-auth/oidc');
  if (use === undefined || plugins.some((each) => each.use === 'auth-server')) return [];
  const given = use.with as Partial<IssuerAddress> | undefined;
  const problem = given?.issuer === undefined ? undefined : issuerAddressProblem({ ...given, issuer: given.issuer });
  return problem === undefined ? [] : [`${CHECKED[use.use]}.issuer: ${problem}`];
}

/** Options of the strategies for requests to the server. */
async function strategyProblems({ outgoingAuth }: PlanInput): Promise<readonly string[]> {
  const problems: string[] = [];
  let use = outgoingAuth?.default;
  while (use !== undefined) {
    const { type, options } = use;
    const strategy = STRATEGIES[type];
    if (strategy === undefined) break;
    const { slotOptions = {} } = await findPlugin(strategy.address, { catalogue, baseDir: '/' });
    const schema = slotOptions[type];
    const read = schema?.safeParse(options ?? {});
    if (schema !== undefined && read?.success === false) {
      problems.push(...explainIssues(strategy.where, schema, read.error));
    }
    use = (options as { readonly after?: typeof use } | undefined)?.after;
  }
  return problems;
}

const STRATEGIES: Readonly<Record<string, { readonly address: string; readonly where: string }>> = {
  forward_headers: { address: 'outgoing-auth/forward-headers', where: '--remote-forward-headers' },
  token_exchange: { address: 'outgoing-auth/token-exchange', where: '--token-exchange options' },
  aws_sts: { address: 'outgoing-auth/aws-sts', where: 'aws_sts_config' },
  header_injection: { address: 'outgoing-auth/header-injection', where: 'outgoing_auth' },
  xaa: { address: 'outgoing-auth/xaa', where: 'outgoing_auth' },
  obo: { address: 'outgoing-auth/obo', where: 'outgoing_auth' },
  upstream_inject: { address: 'outgoing-auth/upstream-inject', where: 'upstream_swap_config' },
};
