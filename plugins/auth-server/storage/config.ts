import { z } from 'zod';
import { goDuration } from '../../shared/go-duration.ts';
import { secretReference } from '../../shared/secret-reference.ts';

const INT32 = 2_147_483_647;
const hostAndPort = z
  .string()
  // the message omits the text, which may contain a password
  .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+):\d{1,5}$/, 'expected host:port, without scheme or credentials');
const port = z.int().min(1).max(65_535);

const tls = z.strictObject({
  caCertSecretRef: secretReference.optional().describe("certificates (PEM) that are trusted instead of the system's"),
  insecureSkipVerify: z.boolean().default(false).describe('accept any certificate'),
});

const sentinelConfig = z
  .strictObject({
    masterName: z.string().min(1, 'expected a name that is not empty').describe('name of the master'),
    db: z.int().min(0).max(INT32).default(0).describe('number of the database'),
    sentinelAddrs: z.array(hostAndPort).min(1).optional().describe('addresses of Sentinels'),
    sentinelService: z
      .strictObject({
        name: z.string().min(1).describe('name of the Kubernetes Service of the Sentinels'),
        namespace: z.string().min(1).optional().describe('its namespace; default: the own one'),
        port: port.default(26_379).describe('its port'),
      })
      .optional()
      .describe('the Sentinels as a Service'),
  })
  .superRefine(({ sentinelAddrs, sentinelService }, context) => {
    if ((sentinelAddrs === undefined) !== (sentinelService === undefined)) return;
    const message = 'expected one of sentinelAddrs and sentinelService';
    context.addIssue({ code: 'custom', path: [], message });
  });

const redis = z
  .strictObject({
    aclUserConfig: z
      .strictObject({
        passwordSecretRef: secretReference.describe('password'),
        usernameSecretRef: secretReference.optional().describe('user name; without it AUTH has the password only'),
      })
      .describe('login'),
    addr: hostAndPort.optional().describe('host:port of the server, or of one node of the cluster'),
    clusterMode: z.boolean().default(false).describe('the server is a Redis Cluster'),
    sentinelConfig: sentinelConfig.optional().describe('find the master by Sentinels, instead of addr'),
    dialTimeout: goDuration.prefault('5s').describe('timeout of opening a connection'),
    readTimeout: goDuration.prefault('3s').describe('timeout of an answer'),
    writeTimeout: goDuration.prefault('3s').describe('timeout of sending'),
    tls: tls.optional().describe('TLS to the server, the master or the cluster'),
    sentinelTls: tls.optional().describe('TLS to the Sentinels'),
    keyPrefix: z.string().max(256).optional().describe('prefix of every key; default `toolmgr:auth:{NAME}:`'),
  })
  .superRefine(({ addr, clusterMode, sentinelConfig: sentinels, sentinelTls }, context) => {
    const wrong = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (addr !== undefined && sentinels !== undefined) wrong('addr', 'excludes sentinelConfig; remove one of them');
    if (clusterMode && addr === undefined) wrong('clusterMode', 'needs addr');
    else if (addr === undefined && sentinels === undefined)
      wrong('addr', 'missing, expected host:port or sentinelConfig');
    if (sentinelTls !== undefined && sentinels === undefined) wrong('sentinelTls', 'applies only with sentinelConfig');
  });

/** Where records are kept. Source: vmcp spec §2 spec.authServerConfig `storage`. */
export const storageConfig = z
  .strictObject({
    type: z.enum(['memory', 'redis']).default('memory').describe('records of this process, or of all replicas'),
    redis: redis.optional().describe('the server; required when type is redis'),
    // extension
    encryptionKeySecretRefs: z
      .array(secretReference)
      .max(16)
      .default([])
      .describe('keys of 32 bytes that encrypt upstream tokens: the first encrypts, all decrypt'),
  })
  .superRefine(({ type, redis: given }, context) => {
    const wrong = (message: string): void => context.addIssue({ code: 'custom', path: ['redis'], message });
    if (type === 'redis' && given === undefined) wrong('missing; type redis needs it');
    if (type === 'memory' && given !== undefined) wrong('has no effect with type memory; set type: redis');
  });

/** Parsed storage settings. */
export type StorageConfig = z.output<typeof storageConfig>;
/** Parsed settings of Redis. */
export type AuthRedisConfig = z.output<typeof redis>;
