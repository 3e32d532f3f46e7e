import type { Mutation } from './mutation.ts';

const FOLDER = 'plugins/auth-server/storage';
const ADAPTER = `${FOLDER}/provider-adapter.ts`;
const KEY_RING = `${FOLDER}/key-ring.ts`;
const MEMORY = `${FOLDER}/memory-storage.ts`;
const OPERATIONS = `${FOLDER}/redis-operations.ts`;
const SCRIPTS = `${FOLDER}/record-scripts.ts`;
const SEALED = `${FOLDER}/sealed-storage.ts`;
const TARGET = `${FOLDER}/redis-target.ts`;
const SERVERS = 'plugins/kit/redis/redis-servers.ts';

/** Records of the authorization server: removing or reversing a line must fail the proofs of its requirement. */
export const authStorageBehaviours: readonly Mutation[] = [
  ['choice.auth-storage.one-winner', SCRIPTS, 'if version ~= ARGV[3] then return 0 end', ''],
  ['choice.auth-storage.one-winner', MEMORY, 'if (find(key)?.version !== before.version) return false;', ''],
  ['choice.auth-storage.lost-answer', SCRIPTS, 'if version == string.sub(ARGV[1], 1, 22) then return 1 end', ''],
  [
    'choice.auth-storage.lost-answer',
    SCRIPTS,
    'return string.sub(now, 1, 22) == ARGV[1] and now or false',
    'return false',
  ],
  ['choice.auth-storage.kinds', MEMORY, 'const name = kindOf(key);', "const name = 'pending';"],
  ['choice.auth-storage.long-outage', OPERATIONS, 'const FAILOVER_MS = 10_000;', 'const FAILOVER_MS = 10_000_000;'],
  ['vmcp.auth-server.redis.read-timeout', OPERATIONS, 'within(answerMs,', 'within(60_000,'],
  ['choice.auth-storage.failover', OPERATIONS, '|| !isPassing(cause)', '|| isPassing(cause)'],
  [
    'choice.auth-storage.bound-to-key',
    KEY_RING,
    'decipher.setAAD(Buffer.from(name));',
    'decipher.setAAD(Buffer.from(name.slice(0, 0)));',
  ],
  ['choice.auth-storage.rotation', KEY_RING, 'const [current] = keys;', 'const current = keys.at(-1);'],
  ['choice.auth-storage.unencrypted-refused', SEALED, 'if (readUnencrypted) return record;', 'return record;'],
  [
    'choice.auth-storage.no-secrets',
    ADAPTER,
    "AuthorizationCode: { name: 'authcode', hasSecretId: true,",
    "AuthorizationCode: { name: 'authcode', hasSecretId: false,",
  ],
  [
    'vmcp.auth-server.redis.tls-skip-verify',
    SERVERS,
    'rejectUnauthorized: !insecureSkipVerify',
    'rejectUnauthorized: false',
  ],
  [
    'vmcp.auth-server.redis.acl-username',
    SERVERS,
    '...(username === undefined ? {} : { username: username.reveal() }),',
    '',
  ],
  ['vmcp.auth-server.redis.sentinel-db', TARGET, 'db: sentinelConfig?.db ?? 0,', 'db: 0,'],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
