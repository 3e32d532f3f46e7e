import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { GatewayFault, JsonObject, Log, Secret } from '@toolmgr/core';
import { OauthRefusal, type RegisteredClient, registerClient } from '@toolmgr/plugins/kit/oauth';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import type { AuthStorage } from '../storage/storage.ts';
import { providerFault } from './failures.ts';
import type { Oauth2Clients } from './oauth2/oauth2-clients.ts';
import type { DcrConfig } from './oauth2/oauth2-config.ts';
import type { Oauth2Endpoints } from './oauth2/oauth2-endpoints.ts';
import type { ProviderClient } from './provider/provider-client.ts';
import type { ProviderHttp } from './provider/provider-http.ts';
import { waitFor } from './wait-for.ts';

/** What registration at one provider needs. */
export interface RegistrationParts {
  readonly upstream: string;
  /** Issuer of this authorization server. */
  readonly issuer: string;
  readonly redirectUri: string;
  readonly dcrConfig: DcrConfig;
  readonly initialAccessToken: Secret | undefined;
  /** Configured scopes; empty means those of the metadata. */
  readonly scopes: readonly string[];
  readonly http: ProviderHttp;
  readonly storage: AuthStorage;
  readonly log: Log;
  now(): number;
  endpoints(signal: AbortSignal): Promise<Oauth2Endpoints>;
}

const LOCK_MS = 30_000;
const POLL_MS = 250;
const FAILURE_MS = 30_000; // a failed registration is not repeated in this time
const RENEW_MS = 15 * 60_000; // before the secret ends: a sign-in takes up to 10 minutes
const KEPT_MS = 90 * 24 * 3_600_000; // an unused old client; longer than tokens that can be refreshed are kept

/**
 * Registers the gateway as a client of a provider (RFC 7591) on the first sign-in, and keeps the client in the storage for all
 * replicas. A client stays usable for the tokens that were issued to it when another one takes its place.
 */
export function createRegisteredClients(parts: RegistrationParts): Oauth2Clients {
  const { upstream, storage, now, log } = parts;
  let running: Promise<ProviderClient> | undefined;
  let failed: { readonly cause: unknown; readonly untilMs: number } | undefined;

  const keyOf = (scopes: readonly string[]): string =>
    ['dcr', ...[parts.issuer, upstream, parts.redirectUri].flatMap((text) => [text.length, text]), hashOf(scopes)].join(
      ':',
    );
  const keyOfClient = (id: string): string => `dcr-client:${upstream.length}:${upstream}:${id}`;

  async function stored(key: string): Promise<ProviderClient | undefined> {
    const record = await storage.get(key);
    if (record === undefined) return undefined;
    const { secretExpiresMs } = record.value;
    const isEnding = typeof secretExpiresMs === 'number' && secretExpiresMs - RENEW_MS <= now();
    return isEnding ? undefined : clientIn(record.value);
  }

  async function obtain(signal: AbortSignal): Promise<ProviderClient> {
    const endpoints = await parts.endpoints(signal);
    const scopes = parts.scopes.length > 0 ? parts.scopes : endpoints.scopes;
    const key = keyOf(scopes);
    const known = await stored(key);
    if (known !== undefined) return known;
    if (failed !== undefined && now() < failed.untilMs) throw failed.cause;
    const work = () =>
      register(key, endpoints, scopes, signal).catch((cause: unknown) => {
        failed = { cause, untilMs: now() + FAILURE_MS };
        throw cause;
      });
    return oneRegisters(key, work, signal);
  }

  /** Of several replicas one registers; the others wait for its client. */
  async function oneRegisters(
    key: string,
    work: () => Promise<ProviderClient>,
    signal: AbortSignal,
  ): Promise<ProviderClient> {
    const lock = `lock:${key}`;
    const deadline = now() + LOCK_MS;
    while (now() < deadline && !signal.aborted) {
      if (await storage.add(lock, { owner: randomUUID() }, LOCK_MS)) {
        try {
          return (await stored(key)) ?? (await work());
        } finally {
          await storage.delete(lock).catch(() => undefined); // it ends by itself
        }
      }
      await pause(POLL_MS);
      const known = await stored(key);
      if (known !== undefined) return known;
    }
    throw providerFault(upstream, 'another replica is registering a client and did not finish in time');
  }

  /** It is not repeated after an outage: each POST that arrives makes another client. */
  async function register(
    key: string,
    { registrationUrl = '', authMethods, checksPkce }: Oauth2Endpoints,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<ProviderClient> {
    if (scopes.length === 0)
      log.warn('a client is registered without scopes: none are configured or discovered', { upstream });
    const method = methodFor(authMethods, checksPkce);
    if (method === undefined)
      throw providerFault(upstream, 'supports no method of client authentication that the gateway has');
    const { dcrConfig, initialAccessToken, redirectUri } = parts;
    const wanted = {
      redirectUri,
      scopes,
      method,
      applicationType: 'web',
      ...(dcrConfig.softwareId === undefined ? {} : { softwareId: dcrConfig.softwareId }),
      ...(dcrConfig.softwareStatement === undefined ? {} : { softwareStatement: dcrConfig.softwareStatement }),
      ...(initialAccessToken === undefined ? {} : { initialAccessToken }),
    } as const;
    const answer = await registerClient(parts.http, { registrationUrl }, wanted, signal);
    if (answer instanceof OauthRefusal) throw refusedRegistration(upstream, answer);
    await keep(key, answer);
    log.info('a client is registered at an upstream provider', {
      upstream,
      clientId: answer.id,
      method: answer.method,
    });
    return clientIn(recordOf(answer));
  }

  async function keep(key: string, client: RegisteredClient): Promise<void> {
    const record = recordOf(client);
    const ttlMs = client.secretExpiresAtMs === undefined ? undefined : Math.max(client.secretExpiresAtMs - now(), 1);
    await storage.set(keyOfClient(client.id), record, Math.min(ttlMs ?? KEPT_MS, KEPT_MS));
    await storage.set(key, record, ttlMs);
  }

  return {
    current(signal) {
      running ??= obtain(AbortSignal.timeout(LOCK_MS)).finally(() => {
        running = undefined;
      });
      return waitFor(running, signal, `upstream ${upstream}: registration of a client`);
    },
    async issuedTo(clientId) {
      const record = await storage.get(keyOfClient(clientId));
      if (record === undefined) return undefined;
      const { secretExpiresMs } = record.value;
      const restMs = typeof secretExpiresMs === 'number' ? secretExpiresMs - now() : KEPT_MS;
      await storage.touch(keyOfClient(clientId), Math.max(Math.min(restMs, KEPT_MS), 1));
      return clientIn(record.value);
    },
    async forget(clientId) {
      const endpoints = await parts.endpoints(AbortSignal.timeout(LOCK_MS));
      const key = keyOf(parts.scopes.length > 0 ? parts.scopes : endpoints.scopes);
      await storage.delete(keyOfClient(clientId));
      if ((await storage.get(key))?.value.clientId === clientId) await storage.delete(key);
      log.warn(
        'an upstream provider does not know the registered client any more; the next sign-in registers another',
        {
          upstream,
          clientId,
        },
      );
      return true;
    },
  };
}

/** HTTP Basic when the metadata says nothing (RFC 8414 §2); a public client only where PKCE protects it. */
function methodFor(supported: readonly string[] = ['client_secret_basic'], checksPkce: boolean) {
  return METHODS.find((method) => supported.includes(method) && (method !== 'none' || checksPkce));
}

const METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

function recordOf({ id, secret, secretExpiresAtMs, method }: RegisteredClient): JsonObject {
  return {
    clientId: id,
    method: secret === undefined ? 'none' : method,
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(secretExpiresAtMs === undefined ? {} : { secretExpiresMs: secretExpiresAtMs }),
  };
}

function clientIn({ clientId, clientSecret, method }: JsonObject): ProviderClient {
  const known = METHODS.find((each) => each === method) ?? 'client_secret_basic';
  return {
    id: String(clientId),
    ...(typeof clientSecret === 'string' ? { secret: secretOf(clientSecret) } : {}),
    methods: [known],
    accepted: {},
  };
}

function hashOf(scopes: readonly string[]): string {
  return createHash('sha256').update(scopes.toSorted().join(' ')).digest('hex').slice(0, 32);
}

function refusedRegistration(upstream: string, { status, error = '', problem }: OauthRefusal): GatewayFault {
  if (problem !== undefined) return providerFault(upstream, `its registration answer is invalid: ${problem}`);
  const code = REGISTRATION_CODES.has(error) ? `: ${error}` : '';
  if (status === 401 || status === 403) {
    const setting = SCOPE_CODES.has(error) ? 'scopes' : 'initialAccessTokenRef';
    return providerFault(upstream, `registers no client for the gateway (status ${status}${code}); check ${setting}`);
  }
  return providerFault(upstream, `registers no client for the gateway (status ${status}${code})`);
}

/** Keycloak answers the first when a policy does not allow a scope. */
const SCOPE_CODES: ReadonlySet<string> = new Set(['insufficient_scope', 'invalid_scope']);

/** RFC 7591 §3.2.2, RFC 6750 §3.1. */
const REGISTRATION_CODES: ReadonlySet<string> = new Set([
  ...SCOPE_CODES,
  'invalid_token',
  'invalid_redirect_uri',
  'invalid_client_metadata',
  'invalid_software_statement',
  'unapproved_software_statement',
]);
