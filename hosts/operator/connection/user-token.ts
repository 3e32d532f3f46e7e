import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { decodeObject, isObject, type JsonObject } from '@toolmgr/core';
import type { CredentialPlugin, User } from './kubeconfig-files.ts';

/** A bearer token, or a client certificate, that is asked for. */
export interface UserToken {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Epoch milliseconds. Default: it does not expire. */
  readonly expiresMs?: number | undefined;
  /** For the next token of an OpenID provider. */
  readonly refresh?: string | undefined;
}

/**
 * Asks the source of a user's tokens, and keeps the answer until it expires: a credential plugin, or the token endpoint of an OpenID
 * provider.
 * @throws Error without secrets
 */
export function userTokens(user: User): () => Promise<UserToken> {
  let last: UserToken | undefined;
  const { exec, 'auth-provider': provider } = user;
  const ask = async (): Promise<UserToken> => {
    if (exec) return fromPlugin(exec);
    if (!provider) return {};
    if (provider.config?.['id-token'] !== undefined) return fromProvider(provider.config, last);
    throw new Error(`the auth-provider '${provider.name}' is not supported, use a credential plugin under exec`);
  };
  return async () => {
    if (last === undefined || (last.expiresMs ?? Number.POSITIVE_INFINITY) <= Date.now()) last = await ask();
    return last;
  };
}

/** A plugin may wait for a person who signs in. */
const PLUGIN_MS = 300_000;

async function fromPlugin({ command, args, env }: CredentialPlugin): Promise<UserToken> {
  const given = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const run = promisify(execFile)(command, args ?? [], { env: { ...process.env, ...given }, timeout: PLUGIN_MS });
  run.child.stdin?.end();
  const { stdout } = await run.catch((cause: Error & { readonly stderr?: string }) => {
    throw new Error(cause.stderr?.trim() || cause.message);
  });
  const { status } = decodeObject(Buffer.from(stdout)) ?? {};
  if (!isObject(status)) throw new Error(`${command} printed no credentials`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp: until } = status;
  const expiresMs = typeof until === 'string' ? Date.parse(until) : undefined;
  return { token: textOf(token), cert: textOf(cert), key: textOf(key), expiresMs };
}

/** The ID token of the file, or a new one when it has expired and there is what a new one takes. */
async function fromProvider(settings: Settings, last: UserToken | undefined): Promise<UserToken> {
  const token = last?.token ?? settings['id-token'] ?? '';
  const expiresMs = expiryOf(token);
  if (expiresMs > Date.now()) return { token, expiresMs };
  const { 'refresh-token': given, 'idp-issuer-url': issuer, 'client-id': client_id } = settings;
  const refresh_token = last?.refresh ?? given;
  if (refresh_token === undefined || issuer === undefined || client_id === undefined) return {};
  const { 'idp-certificate-authority': file, 'idp-certificate-authority-data': data } = settings;
  const ca = data === undefined ? file && (await readFile(file)) : Buffer.from(data, 'base64');
  const { token_endpoint: url } = await jsonFrom(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, ca);
  if (typeof url !== 'string') throw new Error('the OpenID provider has no token endpoint');
  const client_secret = settings['client-secret'];
  const form = { grant_type: 'refresh_token', refresh_token, client_id, ...(client_secret && { client_secret }) };
  const { id_token, refresh_token: next } = await jsonFrom(url, ca, new URLSearchParams(form));
  if (typeof id_token !== 'string') throw new Error('the OpenID provider issued no ID token');
  return { token: id_token, expiresMs: expiryOf(id_token), refresh: textOf(next) ?? refresh_token };
}

type Settings = Readonly<Record<string, string | undefined>>;

const PROVIDER_MS = 30_000;

/** The JSON object of one request over TLS; a POST with a form. */
async function jsonFrom(url: string, ca: Buffer | string | undefined, form?: URLSearchParams): Promise<JsonObject> {
  const headers = form && { 'content-type': 'application/x-www-form-urlencoded' };
  const sent = request(url, { method: form ? 'POST' : 'GET', ca, headers, signal: AbortSignal.timeout(PROVIDER_MS) });
  const [response] = (await once(sent.end(form?.toString()), 'response')) as [IncomingMessage];
  const body = await json(response).catch(() => undefined);
  if (response.statusCode === 200 && isObject(body)) return body as JsonObject;
  throw new Error(`the OpenID provider answered ${response.statusCode} at ${new URL(url).pathname}`);
}

/** Claim `exp` of a JWT in milliseconds; 0 without one. */
function expiryOf(token: string): number {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return isObject(claims) && typeof claims.exp === 'number' ? claims.exp * 1000 : 0;
  } catch {
    return 0;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
