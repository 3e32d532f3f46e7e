import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayFault, isObject } from '@toolmgr/core';
import { atomicWrite, stateDir, whenAbsent, withLock } from '@toolmgr/plugins/kit/files';
import type { ProviderClient } from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import { type ConfiguredRegistry, NeedsSignIn, type RegistryTokens } from '@toolmgr/plugins/registry';
import { z } from 'zod';
import { encryptedOfProcess, isEncryptedChosen } from '../../workloads/secrets/process-secrets.ts';

/** The tokens of a sign-in, and for what they are. */
const login = z.object({
  /** Origin of the registry: tokens are sent nowhere else. */
  origin: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  accessToken: z.string().optional(),
  expiresAtMs: z.number().optional(),
  refreshToken: z.string().optional(),
});

export type RegistryLogin = z.output<typeof login>;

/** A token that ends sooner is refreshed. */
const EARLY_MS = 30_000;

/** The provider and client of a registry. */
export function providerOf({ auth, name }: ConfiguredRegistry): ProviderClient {
  if (auth === undefined) throw new TypeError(`the registry ${name} has no sign-in`);
  const { issuer, clientId, audience, scopes = ['openid', 'offline_access'] } = auth;
  return {
    ...{ issuer, clientId, scopes },
    ...(audience === undefined ? {} : { extra: { audience } }),
    ...(audience !== undefined && URL.canParse(audience) ? { resource: audience } : {}),
  };
}

/** Access tokens of the registries where the user signed in; they are refreshed when they end. */
export const registryTokens: RegistryTokens = {
  async hasLogin(registry) {
    // secrets that cannot be opened now are as good as none
    return (await readLogin(registry).catch(() => undefined)) !== undefined;
  },
  async bearer(registry, signal) {
    const stored = await readLogin(registry);
    if (stored !== undefined && isFresh(stored)) return stored.accessToken;
    // a refresh token may be valid once: one process at a time, and the others use what it got
    return withLock(stateDir(process.env), `.registry-login-${registry.name}`, () => refreshed(registry, signal));
  },
};

function isFresh(stored: RegistryLogin): stored is RegistryLogin & { readonly accessToken: string } {
  const { accessToken, expiresAtMs = Number.POSITIVE_INFINITY } = stored;
  return accessToken !== undefined && expiresAtMs - EARLY_MS > Date.now();
}

async function refreshed(registry: ConfiguredRegistry, signal: AbortSignal): Promise<string> {
  const stored = await readLogin(registry);
  if (stored === undefined) throw new NeedsSignIn(`no one signed in: toolmgr registry login ${registry.name}`);
  if (isFresh(stored)) return stored.accessToken;
  if (stored.refreshToken === undefined) {
    throw new NeedsSignIn(`the sign-in has ended: toolmgr registry login ${registry.name}`);
  }
  const { isFailure, refreshAt } = await import('@toolmgr/plugins/outgoing-auth/oauth-client/login');
  const tokens = await refreshAt(providerOf(registry), stored.refreshToken, Date.now, signal);
  if (isFailure(tokens)) {
    if (!tokens.isPermanent) throw new GatewayFault('REMOTE_UNAVAILABLE', tokens.reason);
    await writeLogin(registry, undefined);
    throw new NeedsSignIn(`${tokens.reason}: toolmgr registry login ${registry.name}`);
  }
  await writeLogin(registry, { ...stored, ...tokens });
  return tokens.accessToken;
}

/** The sign-in at this registry; `undefined` when there is none, or it is for another origin, issuer or client. */
async function readLogin(registry: ConfiguredRegistry): Promise<RegistryLogin | undefined> {
  const text = (await isEncryptedChosen())
    ? (await encryptedOfProcess().read()).system.get(keyOf(registry.name))
    : (await plainLogins())[keyOf(registry.name)];
  if (text === undefined) return undefined;
  const { success, data } = login.safeParse(JSON.parse(text));
  return success && isFor(data, registry) ? data : undefined;
}

function isFor({ origin, issuer, clientId }: RegistryLogin, registry: ConfiguredRegistry): boolean {
  const { auth } = registry;
  return auth !== undefined && origin === originOf(registry) && issuer === auth.issuer && clientId === auth.clientId;
}

/** Keeps or removes a sign-in: in the encrypted secrets when they are set up, else in a file that only this user can read. */
export async function writeLogin(registry: ConfiguredRegistry, kept: RegistryLogin | undefined): Promise<void> {
  const key = keyOf(registry.name);
  const text = kept === undefined ? undefined : JSON.stringify(kept);
  if (await isEncryptedChosen()) {
    await encryptedOfProcess().change(({ system }) => {
      if (text === undefined) system.delete(key);
      else system.set(key, text);
    });
    return;
  }
  await withLock(stateDir(process.env), FILE, async () => {
    const { [key]: _, ...others } = await plainLogins();
    const next = text === undefined ? others : { ...others, [key]: text };
    await atomicWrite(join(stateDir(process.env), FILE), `${JSON.stringify(next)}\n`);
  });
}

/** The origin to which the tokens of a registry may be sent. */
export function originOf({ source }: ConfiguredRegistry): string {
  return 'url' in source ? new URL(source.url).origin : '';
}

const FILE = '.registry-logins.json'; // no workload has this name

/** Scope `registry` of the system secrets. Source: reference workload-api §7. */
function keyOf(name: string): string {
  return `__toolmgr_registry_${name}`;
}

async function plainLogins(): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(stateDir(process.env), FILE), 'utf8').catch(whenAbsent('{}'));
  const read: unknown = JSON.parse(text);
  if (!isObject(read)) return {};
  return Object.fromEntries(
    Object.entries(read).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
