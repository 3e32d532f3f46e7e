import { z } from 'zod';
import { secretReference } from '../secrets/secret-reference.ts';
import { redisAddress } from './redis-address.ts';

/** `host:port` with the port. The message omits the text, which may contain a password. */
export const hostAndPort = z
  .string()
  .refine((text) => /:\d+$/.test(text) && redisAddress(text) !== undefined, 'expected host:port, without credentials');

const dnsLabel = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, 'expected a DNS label: lower-case letters, digits and "-"');

/** How a certificate is verified. */
export const tlsConfig = z.strictObject({
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

/** The Sentinels and the master that they watch. */
export const sentinelConfig = z
  .strictObject({
    masterName: z.string().min(1).describe('name of the master that the Sentinels watch'),
    db: z.int().min(0).max(2_147_483_647).default(0).describe('number of the database'),
    sentinelAddrs: z.array(hostAndPort).min(1).max(100).optional().describe('host:port of each Sentinel'),
    sentinelService: sentinelService.optional().describe('the Sentinels as a Kubernetes service'),
  })
  .superRefine(({ sentinelAddrs, sentinelService }, context) => {
    if ((sentinelAddrs === undefined) !== (sentinelService === undefined)) return;
    const message = 'expected sentinelAddrs or sentinelService, and not both';
    context.addIssue({ code: 'custom', message });
  });

/** The login. */
export const aclUserConfig = z.strictObject({
  passwordSecretRef: secretReference.describe('password'),
  usernameSecretRef: secretReference.optional().describe('user of the ACL; only the password is sent when absent'),
});

/** The parsed `tls` or `sentinelTls`. */
export type TlsConfig = z.output<typeof tlsConfig>;

/** The servers of one database: one server, the master that Sentinels name, or a Cluster. */
export interface RedisServers {
  /** host:port of the server, or of one server of the Cluster; absent with Sentinels. */
  readonly address?: string | undefined;
  readonly clusterMode: boolean;
  readonly sentinelConfig?: z.output<typeof sentinelConfig> | undefined;
  readonly aclUserConfig?: z.output<typeof aclUserConfig> | undefined;
  readonly tls?: TlsConfig | undefined;
  readonly sentinelTls?: TlsConfig | undefined;
}

/** Keys that exclude or require each other, as path and message. `addressKey`: the key of `address` in the configuration. */
export function conflictsOf(
  { address, clusterMode, sentinelConfig, sentinelTls }: Omit<RedisServers, 'aclUserConfig' | 'tls'>,
  addressKey: string,
): readonly (readonly [string, string])[] {
  const conflicts: [isWrong: boolean, path: string, message: string][] = [
    [clusterMode && address === undefined, 'clusterMode', `requires ${addressKey}`],
    [address !== undefined && sentinelConfig !== undefined, addressKey, 'excludes sentinelConfig'],
    [address === undefined && sentinelConfig === undefined, addressKey, 'missing; or set sentinelConfig'],
    [sentinelTls !== undefined && sentinelConfig === undefined, 'sentinelTls', 'requires sentinelConfig'],
  ];
  return conflicts.flatMap(([isWrong, path, message]) => (isWrong ? [[path, message] as const] : []));
}
