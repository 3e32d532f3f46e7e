import { aclUserConfig, conflictsOf, hostAndPort, sentinelConfig, tlsConfig } from '@toolmgr/plugins/kit/redis';
import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const duration = (text: string, of: string) =>
  goDuration.prefault(text).describe(`${of}: a Go duration, ${text} by default`);

const redisConfig = z
  .strictObject({
    aclUserConfig: aclUserConfig.describe('login at Redis'),
    addr: hostAndPort.optional().describe('host:port of the server, or of one server of the Cluster'),
    clusterMode: z.boolean().default(false).describe('addr is a server of a Redis Cluster'),
    dialTimeout: duration('5s', 'time to open a connection'),
    readTimeout: duration('3s', 'time to wait for an answer'),
    writeTimeout: duration('3s', 'time to send a command, with the wait for a connection during a failover'),
    sentinelConfig: sentinelConfig.optional().describe('Redis Sentinel, instead of addr'),
    tls: tlsConfig.optional().describe('TLS to the server, the master or the Cluster'),
    sentinelTls: tlsConfig.optional().describe('TLS to the Sentinels'),
    // extension of vmcp files, field of run configurations
    keyPrefix: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('prefix of every key; by default made from the name of the gateway'),
  })
  .superRefine(({ addr, ...config }, context) => {
    for (const [path, message] of conflictsOf({ ...config, address: addr }, 'addr')) {
      context.addIssue({ code: 'custom', path: [path], message });
    }
  });

/** The section `storage` of the contract's `authServerConfig`. Source: vmcp spec §2. */
export const storageConfig = z
  .strictObject({
    type: z.enum(['memory', 'redis']).default('memory').describe('memory: one process, lost when it ends'),
    redis: redisConfig.optional().describe('the server; required with type redis'),
    // extensions
    encryptionKeySecretRefs: z
      .array(secretReference)
      .max(16)
      .default([])
      .describe('secrets of at least 32 bytes: the first encrypts records in Redis (AES-256-GCM), all decrypt'),
    readUnencrypted: z
      .boolean()
      .default(false)
      .describe(
        'read records that were written before encryptionKeySecretRefs was set; their next write encrypts them',
      ),
  })
  .superRefine(({ type, redis, encryptionKeySecretRefs, readUnencrypted }, context) => {
    const refuse = (path: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [path], message });
    };
    if (type === 'redis' && redis === undefined) refuse('redis', 'missing; type redis requires it');
    if (type === 'memory' && redis !== undefined) refuse('redis', 'has no effect with type memory; set type: redis');
    if (type === 'memory' && encryptionKeySecretRefs.length > 0) {
      refuse('encryptionKeySecretRefs', 'has no effect with type memory');
    }
    if (readUnencrypted && encryptionKeySecretRefs.length === 0) {
      refuse('readUnencrypted', 'requires encryptionKeySecretRefs');
    }
  });

/** The parsed section. */
export type StorageConfig = z.output<typeof storageConfig>;

/** The parsed subsection `redis`. Durations in milliseconds. */
export type RedisConfig = z.output<typeof redisConfig>;
