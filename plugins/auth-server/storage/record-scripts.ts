import type { RedisClient, Scripts } from '@toolmgr/plugins/kit/redis';

/**
 * A record in Redis is a text: its version (22 characters), a mark, its value as JSON. The mark is a space, or `!` for a record
 * that was taken: for `TAKEN_MS` the taker can read it again if the answer was lost, for others it does not exist.
 *
 * Every script may run twice with the same arguments, because a failover can lose an answer: the version that a write stores
 * shows that the first run was executed. A later write of another replica shows another version; then the first writer is told
 * that it lost, which is safe, because it reads the record again.
 */
export const VERSION_CHARS = 22;
export const IS_RECORD = ' ';

/** Longer than all repetitions of one operation. */
const TAKEN_MS = 60_000;

/** ARGV: text, milliseconds to live or empty. 1: stored by this version. */
const ADD = `
local now = redis.call('GET', KEYS[1])
if now and string.sub(now, 23, 23) == ' ' then
  return string.sub(now, 1, 22) == string.sub(ARGV[1], 1, 22) and 1 or 0
end
if ARGV[2] == '' then redis.call('SET', KEYS[1], ARGV[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
`;

/** ARGV: text, milliseconds to live or empty, the version to replace. 1: stored by this version. */
const REPLACE = `
local now = redis.call('GET', KEYS[1])
if not now or string.sub(now, 23, 23) ~= ' ' then return 0 end
local version = string.sub(now, 1, 22)
if version == string.sub(ARGV[1], 1, 22) then return 1 end
if version ~= ARGV[3] then return 0 end
if ARGV[2] == '' then redis.call('SET', KEYS[1], ARGV[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
`;

/** ARGV: a version for this taker. Returns the text; nil when there is no record. */
const TAKE = `
local now = redis.call('GET', KEYS[1])
if not now then return false end
if string.sub(now, 23, 23) ~= ' ' then
  return string.sub(now, 1, 22) == ARGV[1] and now or false
end
local taken = ARGV[1] .. '!' .. string.sub(now, 24)
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > ${TAKEN_MS} then left = ${TAKEN_MS} end
redis.call('SET', KEYS[1], taken, 'PX', math.max(1, left))
return taken
`;

/** ARGV: milliseconds to live. */
const TOUCH = `
if redis.call('GETRANGE', KEYS[1], 22, 22) == ' ' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
`;

/** ARGV: member, milliseconds to live or empty, maximum of members. 0: the set is full. */
const ADD_MEMBER = `
local left = redis.call('PTTL', KEYS[1])
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then
  if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
  redis.call('SADD', KEYS[1], ARGV[1])
end
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1])
elseif left == -2 or (left >= 0 and left < tonumber(ARGV[2])) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`;

/** The scripts; each uses one key. */
export const recordScripts: Scripts = Object.fromEntries(
  Object.entries({
    addRecord: ADD,
    replaceRecord: REPLACE,
    takeRecord: TAKE,
    touchRecord: TOUCH,
    addMember: ADD_MEMBER,
  }).map(([name, lua]) => [name, { lua, numberOfKeys: 1 }]),
);

/** A client with these scripts as commands. `ttl`: milliseconds as text, empty for none. */
export interface RecordCommands {
  addRecord(key: string, text: string, ttl: string): Promise<number>;
  replaceRecord(key: string, text: string, ttl: string, before: string): Promise<number>;
  takeRecord(key: string, version: string): Promise<string | null>;
  touchRecord(key: string, ttl: string): Promise<number>;
  addMember(key: string, member: string, ttl: string, max: number): Promise<number>;
}

/** The client of {@link recordScripts}. */
export type RecordClient = RedisClient & RecordCommands;
