import { isObject, nearest } from '@toolmgr/core';

type Fields = Readonly<Record<string, unknown>>;

/** The typed field of a type of middleware, and the member of its parameters that has the value. */
interface Typed {
  readonly field: string;
  /** The first that is there; absent: the parameters themselves. */
  readonly members?: readonly string[];
}

/**
 * What each type of middleware of the contract stands for. No fields: it is always there, or it does nothing here (usage metrics are
 * never sent). Source: reference workload-api §2.8.
 */
const TYPES: Readonly<Record<string, readonly Typed[]>> = {
  recovery: [],
  'mcp-parser': [],
  usagemetrics: [],
  bodylimit: [],
  'strip-auth': [],
  origin: [{ field: 'allowed_origins', members: ['allowed_origins'] }],
  auth: [{ field: 'oidc_config', members: ['oidc_config'] }],
  tokenexchange: [{ field: 'token_exchange_config', members: ['token_exchange_config', 'config'] }],
  upstreamswap: [{ field: 'upstream_swap_config', members: ['config', 'upstream_swap_config'] }],
  awssts: [{ field: 'aws_sts_config', members: ['aws_sts_config', 'config'] }],
  'tool-filter': [
    { field: 'tools_filter', members: ['filter_tools', 'tools_filter'] },
    { field: 'tools_override', members: ['tools_override'] },
  ],
  'tool-call-filter': [
    { field: 'tools_filter', members: ['filter_tools', 'tools_filter'] },
    { field: 'tools_override', members: ['tools_override'] },
  ],
  telemetry: [{ field: 'telemetry_config', members: ['config', 'telemetry_config'] }],
  ratelimit: [{ field: 'rate_limit_config', members: ['config', 'rate_limit_config'] }],
  'mutating-webhook': [{ field: 'mutating_webhooks', members: ['webhooks'] }],
  'validating-webhook': [{ field: 'validating_webhooks', members: ['webhooks'] }],
  authorization: [
    { field: 'authz_config', members: ['config_data', 'authz_config', 'config'] },
    { field: 'authz_config_path', members: ['config_path'] },
  ],
  audit: [
    { field: 'audit_config', members: ['config_data', 'audit_config', 'config'] },
    { field: 'audit_config_path', members: ['config_path'] },
  ],
  'header-forward': [{ field: 'header_forward' }],
};

const LISTS = ['middleware_configs', 'additional_middleware_configs'] as const;

/**
 * Puts typed fields in the place of middleware. A typed field that is there already counts: implementations write both. A type that
 * has no typed field is a problem that names it.
 */
export function typedMiddleware(
  fields: Fields,
): { readonly fields: Record<string, unknown> } | { readonly problems: readonly string[] } {
  const { middleware_configs: _, additional_middleware_configs: __, ...typed } = fields;
  const problems: string[] = [];
  for (const list of LISTS) {
    const given = fields[list];
    if (given === undefined) continue;
    if (!Array.isArray(given)) problems.push(`${list}: expected a list of objects with type and parameters`);
    else problems.push(...given.flatMap((entry, index) => translate(entry, `${list}[${index}]`, typed)));
  }
  return problems.length > 0 ? { problems } : { fields: typed };
}

function translate(entry: unknown, where: string, typed: Record<string, unknown>): readonly string[] {
  if (!isObject(entry) || typeof entry.type !== 'string')
    return [`${where}: expected an object with type and parameters`];
  const { type, parameters = {}, ...more } = entry;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return [`${where}.${unknown}: unknown member; expected type and parameters`];
  if (!isObject(parameters)) return [`${where}.parameters: expected an object`];
  const targets = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (targets === undefined) {
    const hint = nearest(type, Object.keys(TYPES));
    return [
      `${where}.type: the middleware ${type} has no field here${hint === undefined ? '' : `, did you mean ${hint}?`}`,
    ];
  }
  const found = targets.filter((target) => take(target, parameters, typed));
  if (targets.length === 0 || found.length > 0 || Object.keys(parameters).length === 0) return [];
  if (targets.some(({ field }) => typed[field] !== undefined)) return [];
  const names = targets.flatMap(({ members = [] }) => members[0] ?? []);
  return [`${where}.parameters: expected ${names.join(' or ')}`];
}

/** Takes a value over unless the typed field is there. Whether the parameters have it. */
function take({ field, members }: Typed, parameters: Fields, typed: Record<string, unknown>): boolean {
  const name = members?.find((member) => parameters[member] !== undefined);
  const value = members === undefined ? parameters : name === undefined ? undefined : parameters[name];
  if (value === undefined) return false;
  typed[field] ??= value;
  return true;
}
