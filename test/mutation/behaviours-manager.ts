import type { Mutation } from './mutation.ts';

const BULK = 'hosts/manager/workloads/bulk-operations.ts';
const DETAIL = 'hosts/manager/workloads/detail.ts';
const DRIFT = 'hosts/manager/upgrades/drift.ts';
const OF_CONTAINER = 'hosts/workloads/fields/container-options.ts';
const OF_POLICY = 'hosts/workloads/fields/policy-options.ts';
const LISTING = 'plugins/registry/listing.ts';
const REGISTRIES = 'plugins/registry/change-operations.ts';
const SECRETS = 'hosts/manager/secrets/operations.ts';
const SUMMARY = 'plugins/registry/registry-summary.ts';
const WORKLOADS = 'hosts/manager/workloads/listing-operations.ts';

/** The HTTP API of the workload manager. */
export const managerBehaviours: readonly Mutation[] = [
  ['manager.limits.listing-default-50', LISTING, 'DEFAULT_LIMIT = 50', 'DEFAULT_LIMIT = 51'],
  ['manager.limits.listing-maximum-200', LISTING, 'MAX_LIMIT = 200', 'MAX_LIMIT = 201'],
  ['manager.limits.page-from-one', LISTING, '(page - 1) * limit', 'page * limit'],
  ['manager.listing.servers-q', LISTING, 'text.toLowerCase().includes(lower)', 'text.includes(lower)'],
  ['manager.listing.skills-q', LISTING, 'matches(query.q ?? query.search, name', 'matches(query.search, name'],
  ['manager.listing.skill-200', LISTING, 'skill.namespace === namespace && ', ''],
  ['manager.pagination.fields', LISTING, 'count: items.length,', 'count: total,'],
  ['manager.registry.auth-status', SUMMARY, "isSignedIn ? 'authenticated' : 'configured'", "'configured'"],
  ['manager.registry.auth-type', SUMMARY, "auth === undefined ? '' : 'oauth'", "''"],
  ['manager.registry.server-count', SUMMARY, 'content.entries.length : 0', '0 : 0'],
  ['manager.registry.source', SUMMARY, 'registry.source.path : registry.source.url', "'' : registry.source.url"],
  ['manager.registry-group.servers', SUMMARY, 'images.filter((each) => own.has(each.name))', 'images'],
  ['manager.registries.update-only-default', REGISTRIES, 'path.name !== DEFAULT_REGISTRY', 'false'],
  ['manager.registries.update-403', REGISTRIES, "problem('forbidden', locked)", "problem('bad_request', locked)"],
  [
    'manager.registries.update-504',
    REGISTRIES,
    "problem('upstream_timeout', detail)",
    "problem('upstream_failed', detail)",
  ],
  ['manager.registries.update-400', REGISTRIES, "kind === 'missing'", 'false'],
  ['manager.upgrade-check.config-drift-transport', DRIFT, 'from === to ?', 'true ?'],
  ['manager.upgrade-check.env-var-drift-added', DRIFT, '!set.has(name)', 'set.has(name)'],
  ['manager.upgrade-check.env-var-drift-removed', DRIFT, '!known.has(name)', 'known.has(name)'],
  ['manager.upgrades.no-secrets-out', DRIFT, 'variable.secret || value === undefined', 'value === undefined'],
  ['manager.workloads.list-running-default', WORKLOADS, "'running', 'auth_retrying'", "'running', 'stopped'"],
  ['manager.workloads.list-group', WORKLOADS, 'config?.group === group', 'config !== undefined'],
  ['manager.workloads.list-all', WORKLOADS, 'all || RUNNING', 'RUNNING'],
  [
    'manager.workloads.list-404',
    WORKLOADS,
    'if (!groups.some(({ name }) => name === group))',
    'if (groups.length === 0)',
  ],
  ['manager.workload-detail.secrets', DETAIL, 'target: secretTargetOf(reference)', "target: ''"],
  ['manager.workload-detail.permission-profile', OF_CONTAINER, "stored: 'permission_profile',", ''],
  [
    'manager.workload-detail.tools-override',
    DETAIL,
    '[tool, { name, description }]',
    '[tool, { name, description: name }]',
  ],
  ['manager.workload-detail.oidc', OF_POLICY, "stored: 'oidc_config.audience'", "stored: 'oidc_config.issuer'"],
  ['manager.workload-summary.started-at', DETAIL, "summary.started_at ?? ''", "''"],
  ['manager.workload-summary.port', DETAIL, 'record.config?.port ?? 0', '0'],
  ['manager.workloads.bulk-delete-400', BULK, "problem('bad_request', detail,", "problem('not_found', detail,"],
  ['manager.workloads.bulk-delete-background', BULK, 'status: 202,', 'status: 200,'],
  ['manager.secrets.create-409', SECRETS, "=== 'exists'", "=== 'missing'"],
  ['manager.secrets.update-404', SECRETS, "'update')) === 'missing'", "'update')) === 'exists'"],
  ['manager.secrets.create-404', SECRETS, '!isSetUp', 'false'],
  ['manager.secrets.update-400', SECRETS, 'Buffer.byteLength(given) <= MAX_SECRET_BYTES', 'given.length > 0'],
  ['manager.secrets.setup-400', SECRETS, "given !== undefined && provider !== 'encrypted'", 'false'],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
