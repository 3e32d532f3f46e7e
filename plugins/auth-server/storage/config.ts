import { z } from 'zod';
import { goDuration } from '../../shared/go-duration.ts';
import { redisAddress } from '../../shared/redis/redis-address.ts';
import { secretReference } from '../../shared/secret-reference.ts';

const duration = (text: string, of: string) =>
  goDuration.prefault(text).describe(`${of}: a Go duration, ${text} by default`);

const address = z
  .string()
  // the message omits the text, which may contain a password
  .refine((text) => /:\d+$/.test(text) && redisAddress(text) !== undefined, 'expected host:port, without credentials');

const dnsLabel = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, 'expected a DNS label: lower-case letters, digits and "-"');

const tlsConfig = z.strictObject({
  caCertSecretRef: secretReference
    .optional()
    .describe('certificates of the authority as PEM; the roots of the system when absent'),
  insecureSkipVerify: z.boolean().default(false).describe('accept any certificate; logs a warning'),
});

const sentinelService = z.strictObject({
  name: dnsLabel.describe('name of the Kubernetes service'),
  namespace: dnsLabel.optional().describe('its namespace; the same namespace when absent'),
  port: z.int().min(1).max(65_535).default(26_379).describe('its port'),
});

const sentinelConfig = z
  .strictObject({
    masterName: z.string().min(1).describe('name of the master that the Sentinels watch'),
    db: z.int().min(0).max(2_147_483_647).default(0).describe('number of the database'),
    sentinelAddrs: z.array(address).min(1).max(100).optional().describe('host:port of each Sentinel'),
    sentinelService: sentinelService.optional().describe('the Sentinels as a Kubernetes service'),
  })
  .superRefine(({ sentinelAddrs, sentinelService }, context) => {
    if ((sentinelAddrs === undefined) !== (sentinelService === undefined)) return;
    const message = 'expected sentinelAddrs or sentinelService, and not both';
    context.addIssue({ code: 'custom', message });
  });

const redisConfig = z
  .strictObject({
    aclUserConfig: z
      .strictObject({
        passwordSecretRef: secretReference.describe('password'),
        usernameSecretRef: secretReference
          .optional()
          .describe('user of the ACL; only the password is sent when absent'),
      })
      .describe('login at Redis'),
    addr: address.optional().describe('host:port of the server, or of one server of the Cluster'),
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
  .superRefine(({ addr, clusterMode, sentinelConfig, sentinelTls }, context) => {
    const refuse = (path: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [path], message });
    };
    if (clusterMode && addr === undefined) refuse('clusterMode', 'requires addr');
    if (addr !== undefined && sentinelConfig !== undefined) refuse('addr', 'excludes sentinelConfig');
    if (addr === undefined && sentinelConfig === undefined) refuse('addr', 'missing; or set sentinelConfig');
    if (sentinelTls !== undefined && sentinelConfig === undefined) refuse('sentinelTls', 'requires sentinelConfig');
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

/** The parsed `tls` or `sentinelTls`. */
export type TlsConfig = z.output<typeof tlsConfig>;
