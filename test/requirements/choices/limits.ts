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
    source: 'choice: memory in flight (decision 055)',
    says: {
      'choice.limits.memory-budget':
        'request bodies, results and unsent responses of one caller never use up the memory of the gateway, and others are answered meanwhile',
      'choice.limits.memory-share': 'a caller may hold as many bytes as are still free',
      'choice.limits.memory-waits':
        'a result without space stops the reading from its backend; results that wait for each other are completed one by one',
      'choice.limits.memory-refused':
        'without space a request answers 503 with MEMORY_SPENT and Retry-After, and is counted',
      'choice.limits.memory-released': 'what a request held is free when its client has read the response or has gone',
      'choice.limits.memory-kept':
        'the body of a subscriptions/listen, and the body and the result of a suspended call, count until the stream or the call ends',
      'choice.limits.memory-replay':
        'events stored for Last-Event-ID of all sessions together take at most an eighth of the memory budget; without space a stored answer is replaced by an error',
      'choice.limits.send-timeout':
        'a client that reads nothing of its response for limits.sendTimeoutMs is disconnected',
      'choice.limits.memory-flag':
        '`--memory-budget` of `vmcp serve`, `up`, `run` and `serve` sets limits.memoryBudgetBytes',
      'choice.limits.memory-shared':
        'all gateways in one process of the manager share one memory budget; embedders share one with `createMemoryBudget`',
    },
  },
  {
    source: 'choice: shares of callers (decision 029)',
    says: {
      'choice.share.key':
        'a caller with an identity has one share; without one the IPv4 address or IPv6 /64 of the connection has',
      'choice.share.sessions':
        'one caller that opens all sessions does not block others: its own oldest without a running call is closed first',
      'choice.share.in-flight': 'one caller never has all calls in flight to a backend, and those in line take turns',
      'choice.share.queue': 'one caller never fills the line of a backend for others',
      'choice.share.backend-sessions':
        'one caller never has all sessions or processes of a backend, watched or not: its own oldest goes first',
      'choice.share.starts': 'a caller that has its share of processes starts at most one more a second',
      'choice.share.watches-return': 'watches of a backend session that made room return with its next call',
      'choice.share.spelling': 'capabilities that say the same in other words are served by one process',
      'choice.share.parked': 'one caller never has all places of parked calls: its own oldest ends first',
      'choice.share.workflows': 'one caller never has all places of waiting workflows, by number or bytes',
    },
  },
  {
    source: 'choice: rate limits (decision 015)',
    deferred: 'cannot occur: a cluster refuses limits without Redis, and elsewhere no other replica is known',
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
      'choice.store.redis-sentinel': 'sessionStorage takes sentinelConfig: a new master is used after a failover',
      'choice.store.redis-cluster': 'sessionStorage takes clusterMode: all keys of a gateway are in one slot',
      'choice.store.redis-acl-user': 'sessionStorage takes aclUserConfig, tls and sentinelTls with secret references',
      'choice.store.redis-keys': 'keys of gateways with different names never meet in one Redis',
      'choice.store.redis-clock': 'the clock of the Redis server counts, not that of a gateway',
      'choice.store.redis-wrong-settings': 'a wrong password or database stops the start, without being shown',
    },
  },
] as const satisfies readonly Section[];
