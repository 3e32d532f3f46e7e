import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { GatewayFault } from '@toolmgr/core';
import type { SecretSlots } from '../../shared/read-secret.ts';
import { redisAddress } from '../../shared/redis/redis-address.ts';
import {
  type ConnectionTarget,
  clientOptions,
  type RedisClient,
  type RedisLibrary,
  reconnectDelayMs,
} from '../../shared/redis/redis-connection.ts';
import { readSecretReference } from '../../shared/secret-reference.ts';
import type { RedisConfig, TlsConfig } from './config.ts';
import { recordScripts } from './record-scripts.ts';

const SETTING = 'authServerConfig.storage.redis';

/** The servers of the configuration: one server, the master that Sentinels name, or a Cluster. Reads secrets when it opens. */
export function redisTarget(slots: SecretSlots, config: RedisConfig): ConnectionTarget {
  return {
    owner: 'auth-server',
    subject: 'the Redis of the authorization server',
    address: addressOf(config),
    refused: `refused the login or the database; check ${SETTING}.aclUserConfig and db`,
    connectTimeoutMs: config.dialTimeout,
    create: async (library) => createClient(library, config, await readCredentials(slots, config)),
  };
}

function addressOf({ addr, sentinelConfig }: RedisConfig): string {
  if (addr !== undefined) return addr;
  const sentinels = sentinelsOf(sentinelConfig).map(({ host, port }) => `${host}:${port}`);
  return `${sentinelConfig?.masterName} of Sentinel ${sentinels.join(', ')}`;
}

interface Credentials {
  readonly username?: string;
  readonly password: string;
  readonly tls: ConnectionOptions | undefined;
  readonly sentinelTls: ConnectionOptions | undefined;
}

async function readCredentials(slots: SecretSlots, config: RedisConfig): Promise<Credentials> {
  const { usernameSecretRef, passwordSecretRef } = config.aclUserConfig;
  const setting = `${SETTING}.aclUserConfig`;
  const [username, password, tls, sentinelTls] = await Promise.all([
    usernameSecretRef && readSecretReference(slots, usernameSecretRef, `${setting}.usernameSecretRef`),
    readSecretReference(slots, passwordSecretRef, `${setting}.passwordSecretRef`),
    readTls(slots, config.tls, `${SETTING}.tls`),
    readTls(slots, config.sentinelTls, `${SETTING}.sentinelTls`),
  ]);
  return {
    ...(username === undefined ? {} : { username: username.reveal() }),
    password: password.reveal(),
    tls,
    sentinelTls,
  };
}

async function readTls(
  slots: SecretSlots,
  tls: TlsConfig | undefined,
  setting: string,
): Promise<ConnectionOptions | undefined> {
  if (tls === undefined) return undefined;
  const { caCertSecretRef, insecureSkipVerify } = tls;
  const where = `${setting}.caCertSecretRef`;
  const ca = caCertSecretRef && (await readSecretReference(slots, caCertSecretRef, where)).reveal();
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) {
    throw new GatewayFault('PLAN_INVALID', `${where}: expected certificates as PEM`);
  }
  return { rejectUnauthorized: !insecureSkipVerify, ...(ca === undefined ? {} : { ca }) };
}

function createClient(library: RedisLibrary, config: RedisConfig, credentials: Credentials): RedisClient {
  const { username, password, tls, sentinelTls } = credentials;
  const login = { password, ...(username === undefined ? {} : { username }) };
  // The answer of a single command has its own timer; a server that is silent for longer loses the connection.
  const options = { ...clientOptions(config.dialTimeout, Math.max(config.readTimeout, config.writeTimeout)), ...login };
  const { addr, clusterMode, sentinelConfig } = config;
  if (addr === undefined) {
    return new library.Redis({
      ...options,
      scripts: recordScripts,
      sentinels: sentinelsOf(sentinelConfig),
      name: sentinelConfig?.masterName ?? '',
      db: sentinelConfig?.db ?? 0,
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: config.readTimeout,
      failoverDetector: true,
      ...(tls === undefined ? {} : { tls, enableTLSForSentinelMode: true }),
      ...(sentinelTls === undefined ? {} : { sentinelTLS: sentinelTls }),
    });
  }
  const { host, port } = redisAddress(addr) ?? { host: addr, port: 0 };
  const named = tls === undefined ? {} : { tls: { ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) } };
  if (!clusterMode) return new library.Redis({ ...options, ...named, scripts: recordScripts, host, port });
  const { lazyConnect, enableOfflineQueue, retryStrategy, ...ofNodes } = options;
  const cluster = new library.Cluster([{ host, port }], {
    lazyConnect,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: config.readTimeout,
    scripts: recordScripts,
    redisOptions: { ...ofNodes, ...(tls === undefined ? {} : { tls }) },
  });
  return cluster as unknown as RedisClient;
}

/** A Kubernetes service without a namespace is found by the search domain of the pod. */
function sentinelsOf(config: RedisConfig['sentinelConfig']): { host: string; port: number }[] {
  const { sentinelAddrs, sentinelService } = config ?? {};
  if (sentinelService !== undefined) {
    const { name, namespace, port } = sentinelService;
    return [{ host: namespace === undefined ? name : `${name}.${namespace}.svc`, port }];
  }
  return (sentinelAddrs ?? []).flatMap((text) => redisAddress(text) ?? []);
}
