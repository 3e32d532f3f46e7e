import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { GatewayFault, type Log } from '@toolmgr/core';
import type { SecretSlots } from '../secrets/read-secret.ts';
import { readSecretReference } from '../secrets/secret-reference.ts';
import { redisAddress } from './redis-address.ts';
import {
  clientOptions,
  type RedisClient,
  type RedisLibrary,
  reconnectDelayMs,
  type Scripts,
} from './redis-connection.ts';
import type { RedisServers, TlsConfig } from './redis-options.ts';

/** What a client sends, and how it verifies certificates. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  readonly tls: ConnectionOptions | undefined;
  readonly sentinelTls: ConnectionOptions | undefined;
}

/** How a client behaves. Times in milliseconds. */
export interface ClientBehaviour {
  readonly db: number;
  readonly scripts: Scripts;
  readonly connectTimeoutMs: number;
  /** See {@link clientOptions}. */
  readonly silenceMs: number;
  /** Time to wait for an answer about the servers: of a Sentinel, or for the slots of a Cluster. */
  readonly answerMs: number;
  /** A client of a Cluster sends a command again when its server is away. Only for commands that may be executed twice. */
  readonly repeats: boolean;
}

/** The servers for logs and errors. */
export function serversText({ address, sentinelConfig }: Pick<RedisServers, 'address' | 'sentinelConfig'>): string {
  if (address !== undefined) return address;
  const sentinels = sentinelsOf(sentinelConfig).map(({ host, port }) => `${host}:${port}`);
  return `${sentinelConfig?.masterName} of Sentinel ${sentinels.join(', ')}`;
}

/**
 * Reads the secrets that the configuration names. `setting`: its place, for errors.
 * @throws GatewayFault SECRET_MISSING, PLAN_INVALID for a CA that is no PEM
 */
export async function readLogin(slots: SecretSlots, servers: RedisServers, setting: string): Promise<RedisLogin> {
  const { usernameSecretRef, passwordSecretRef } = servers.aclUserConfig ?? {};
  const at = `${setting}.aclUserConfig`;
  const [username, password, tls, sentinelTls] = await Promise.all([
    usernameSecretRef && readSecretReference(slots, usernameSecretRef, `${at}.usernameSecretRef`),
    passwordSecretRef && readSecretReference(slots, passwordSecretRef, `${at}.passwordSecretRef`),
    readTls(slots, servers.tls, `${setting}.tls`),
    readTls(slots, servers.sentinelTls, `${setting}.sentinelTls`),
  ]);
  return {
    ...(username === undefined ? {} : { username: username.reveal() }),
    ...(password === undefined ? {} : { password: password.reveal() }),
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

/** Logs a warning for every certificate that is not verified. `setting`: the place of the configuration. */
export function warnOfUnverified(
  log: Pick<Log, 'warn'>,
  { tls, sentinelTls }: Pick<RedisServers, 'tls' | 'sentinelTls'>,
  setting: string,
): void {
  for (const [name, given] of [['tls', tls] as const, ['sentinelTls', sentinelTls] as const]) {
    if (given?.insecureSkipVerify) {
      log.warn('the certificate of Redis is not verified', { setting: `${setting}.${name}.insecureSkipVerify` });
    }
  }
}

/** A client of the servers, which does not connect yet. */
export function createRedisClient(
  library: RedisLibrary,
  { address, clusterMode, sentinelConfig }: Pick<RedisServers, 'address' | 'clusterMode' | 'sentinelConfig'>,
  { tls, sentinelTls, ...login }: RedisLogin,
  { db, scripts, connectTimeoutMs, silenceMs, answerMs, repeats }: ClientBehaviour,
): RedisClient {
  const options = { ...clientOptions(connectTimeoutMs, silenceMs), ...login };
  if (address === undefined) {
    return new library.Redis({
      ...options,
      scripts,
      sentinels: sentinelsOf(sentinelConfig),
      name: sentinelConfig?.masterName ?? '',
      db,
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: answerMs,
      failoverDetector: true,
      ...(tls === undefined ? {} : { tls, enableTLSForSentinelMode: true }),
      ...(sentinelTls === undefined ? {} : { sentinelTLS: sentinelTls }),
    });
  }
  const { host, port } = redisAddress(address) ?? { host: address, port: 0 };
  const named = tls === undefined ? {} : { tls: { ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) } };
  if (!clusterMode) return new library.Redis({ ...options, ...named, scripts, host, port, db });
  const { lazyConnect, enableOfflineQueue, retryStrategy, ...ofNodes } = options;
  const cluster = new library.Cluster([{ host, port }], {
    lazyConnect,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: answerMs,
    scripts,
    // without these the slots are read again in an interval, because no failing command causes it
    ...(repeats ? {} : { retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, slotsRefreshInterval: SLOTS_REFRESH_MS }),
    redisOptions: { ...ofNodes, ...(tls === undefined ? {} : { tls }) },
  });
  return cluster as unknown as RedisClient;
}

const SLOTS_REFRESH_MS = 2_000;

/** A Kubernetes service without a namespace is found by the search domain of the pod. */
function sentinelsOf(config: RedisServers['sentinelConfig']): { host: string; port: number }[] {
  const { sentinelAddrs, sentinelService } = config ?? {};
  if (sentinelService !== undefined) {
    const { name, namespace, port } = sentinelService;
    return [{ host: namespace === undefined ? name : `${name}.${namespace}.svc`, port }];
  }
  return (sentinelAddrs ?? []).flatMap((text) => redisAddress(text) ?? []);
}
