import type { Mutation } from './mutation.ts';

const FOLDER = 'plugins/auth-server';
const CHAIN = `${FOLDER}/delegation/act-chain.ts`;
const CONFIG = `${FOLDER}/clients/config.ts`;
const CONSENT = `${FOLDER}/delegation/consent.ts`;
const DOCUMENTS = `${FOLDER}/clients/metadata-documents.ts`;
const EXCHANGE = `${FOLDER}/delegation/token-exchange.ts`;
const JWT_BEARER = `${FOLDER}/delegation/jwt-bearer.ts`;
const REGISTERED = `${FOLDER}/clients/registered-clients.ts`;
const SCOPES = `${FOLDER}/clients/client-scopes.ts`;
const SUBJECT = `${FOLDER}/delegation/subject-token.ts`;

/** Clients of the authorization server, and delegation. */
export const clientBehaviours: readonly Mutation[] = [
  ['vmcp.auth-server.baseline-client-scopes', SCOPES, '[...chosen, ...baseline]', '[...chosen]'],
  ['vmcp.auth-server.baseline-client-scopes-supported', SCOPES, 'unsupported.length === 0', 'unsupported.length >= 0'],
  ['vmcp.auth-server.cimd.disabled-dcr-only', `${FOLDER}/clients/clients.ts`, '!cimd.enabled || ', ''],
  ['vmcp.auth-server.cimd.cache-fallback-ttl', CONFIG, "DEFAULT_TTL = '5m'", "DEFAULT_TTL = '6m'"],
  ['vmcp.auth-server.cimd.cache-max-size', CONFIG, 'DEFAULT_DOCUMENTS = 256', 'DEFAULT_DOCUMENTS = 255'],
  ['choice.clients.secret', REGISTERED, '{ secretHash: secretHash(secret) }', '{ secretHash: secret }'],
  [
    'choice.clients.network-limit',
    `${FOLDER}/clients/clients.ts`,
    'REGISTRATION_BURST = 20',
    'REGISTRATION_BURST = 21',
  ],
  ['choice.clients.capacity', REGISTERED, 'record.value.usedMs === undefined)', 'true)'],
  ['choice.clients.capacity', REGISTERED, 'MAX_PER_PART = 200', 'MAX_PER_PART = 300'],
  ['choice.clients.life', REGISTERED, 'LIFE_MS = 30 *', 'LIFE_MS = 31 *'],
  ['choice.clients.document-address', DOCUMENTS, 'allowLoopback: allowsLoopback', 'allowPrivateAddresses: true'],
  ['choice.clients.document-away', DOCUMENTS, 'RETRY_MS = 60_000', 'RETRY_MS = 0'],
  ['choice.clients.document-away', DOCUMENTS, 'now() >= known.usableUntilMs', 'now() < 0'],
  ['choice.delegation.depth', CHAIN, 'MAX_DEPTH = 10', 'MAX_DEPTH = 11'],
  ['choice.delegation.session', EXCHANGE, '{ [SUBJECT_SESSION]: session }', '{}'],
  ['choice.delegation.own-tokens', CONSENT, 'client === clientId || isConfigured', 'true'],
  ['choice.delegation.listed', CONSENT, 'if (allowMayAct && isListed && ', 'if ('],
  ['choice.delegation.resource', EXCHANGE, 'others.length === 0 && common.includes(target)', 'others.length === 0'],
  ['choice.delegation.audited', SUBJECT, "typeof actor === 'string' && actor !== '' ? actor : undefined", 'undefined'],
  ['choice.delegation.replay', JWT_BEARER, "assertion.slice(0, assertion.lastIndexOf('.'))", 'assertion'],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
