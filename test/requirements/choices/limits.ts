import type { Section } from '../section.ts';

/** Stores outside the process, and limits that are kept in them. */
export const limits = [
  {
    source: 'choice: rate limits (decision 015)',
    says: {
      'choice.error.rate-limited-modern': 'a limited modern call answers the limit error with retryAfterSeconds',
      'choice.error.rate-limited-legacy': 'a limited legacy call answers an isError result with structuredContent',
      'choice.rate-limit.memory-without-redis': 'without Redis limits are kept in memory',
      'choice.rate-limit.store-away-open':
        'limits fail open when the store is away, with a counted warning, by the setting onStoreFailure',
      'choice.rate-limit.store-away-counted': 'calls that pass while the store is away are counted in the metrics',
      'choice.rate-limit.store-away-logged-once': 'an outage of the store is two log lines, not one per call',
      'choice.rate-limit.store-full-closed': 'a full memory store refuses new users and resets no bucket',
      'choice.rate-limit.other-methods': 'an extension key may limit other methods than tools/call',
      'choice.rate-limit.race': 'parallel calls on one bucket get exactly its tokens, on both stores',
      'choice.rate-limit.seen-name': 'a tool counts under the name that clients see, however a call reached it',
      'choice.rate-limit.keys-apart': 'no subject and no tool name reaches the bucket of another',
      'choice.rate-limit.anonymous-together': 'callers without an identity are together one user',
    },
  },
  {
    source: 'choice: rate limits (decision 015)',
    deferred: 'comes with the operator',
    says: {
      'choice.rate-limit.replicas-warned': 'limits in memory are warned about once when replicas are known',
    },
  },
  {
    source: 'choice: stores',
    says: {
      'choice.store.redis-away': 'a Redis that is away fails every command at once and is taken up again by itself',
      'choice.store.redis-hangs': 'a Redis that hangs costs one commandTimeoutMs, not one per command',
      'choice.store.redis-once': 'no command is sent twice to Redis',
      'choice.store.redis-keys': 'keys of gateways with different names never meet in one Redis',
      'choice.store.redis-clock': 'the clock of the Redis server counts, not that of a gateway',
      'choice.store.redis-wrong-settings': 'a wrong password or database stops the start, without being shown',
    },
  },
] as const satisfies readonly Section[];
