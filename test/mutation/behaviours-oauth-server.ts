import type { Mutation } from './mutation.ts';

const AUDIENCES = 'plugins/auth-server/provider/audience-rules.ts';
const CONFIGURATION = 'plugins/auth-server/provider/oidc-configuration.ts';
const FAMILIES = 'plugins/auth-server/provider/refresh-families.ts';
const GRANT = 'plugins/auth-server/provider/refresh-grant.ts';
const LIMITS = 'plugins/auth-server/provider/address-limits.ts';
const PENDING = 'plugins/auth-server/provider/pending-requests.ts';
const ROUTES = 'plugins/auth-server/provider/routes.ts';
const SESSIONS = 'plugins/auth-server/provider/oauth-sessions.ts';
const SIGNED = 'plugins/auth-server/provider/signed-texts.ts';

/** Codes, tokens and endpoints of the authorization server. */
export const oauthServerBehaviours: readonly Mutation[] = [
  ['choice.oauth.pkce', CONFIGURATION, 'pkce: { required: () => true },', 'pkce: { required: () => false },'],
  ['choice.oauth.query-only', ROUTES, "every((mode) => mode === 'query')", 'every(() => true)'],
  ['choice.oauth.audience', AUDIENCES, '!allowed.includes(resource)', 'false'],
  ['choice.oauth.refresh-grace', FAMILIES, 'GRACE_MS = 10_000', 'GRACE_MS = 12_000'],
  ['choice.oauth.refresh-grace', FAMILIES, '(!isDelivered || nowMs', '(nowMs'],
  ['choice.oauth.refresh-reuse', GRANT, "if (rotation.refused === 'reused') await sessions.end(rotation.tsid);", ''],
  ['choice.oauth.refresh-lost-write', FAMILIES, 'number >= newest', 'number === newest'],
  ['choice.oauth.signed', SIGNED, 'timingSafeEqual(expected, mac)', 'true'],
  ['choice.oauth.revocation', CONFIGURATION, 'token.clientId === client.clientId', 'true'],
  ['choice.oauth.withdrawn', SESSIONS, 'FRESH_MS = 5_000', 'FRESH_MS = 6_000'],
  ['choice.oauth.storage-away', SESSIONS, 'STALE_MS = 60_000', 'STALE_MS = 70_000'],
  ['choice.oauth.limits', LIMITS, 'waitS === undefined ?', 'true ?'],
  ['choice.oauth.pending', PENDING, 'const network = networkOf(address);', "const network = address ?? '';"],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
