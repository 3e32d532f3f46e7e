import type { RemoteAnswer, RemoteHttp } from '../safe-http/remote-http.ts';
import { type RegistryCredentials, registryCredentials } from './registry-credentials.ts';
import { RegistryFault } from './registry-fault.ts';

/** Which rights are asked for. */
export interface Wanted {
  readonly registry: string;
  readonly repository: string;
  readonly pushes?: boolean;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The header for a second try, from the challenge of the first answer. Without a login, an anonymous token is asked for.
 *
 * Source: Docker registry token authentication.
 * @throws GatewayFault REMOTE_UNAVAILABLE, without a secret
 */
export async function authorizationFor(http: RemoteHttp, { headers }: RemoteAnswer, wanted: Wanted): Promise<string> {
  const challenge = String(headers['www-authenticate'] ?? '');
  const credentials = await registryCredentials(wanted.registry, wanted.env);
  if (/^basic\b/i.test(challenge)) {
    if (credentials === undefined) throw new RegistryFault(401, 'the registry asks for a login (docker login)');
    return basic(credentials);
  }
  const parameters = new Map(
    [...challenge.matchAll(/(?<![a-z])([a-z]+)="([^"]*)"/gi)].map(([, name = '', value = '']) => [name, value]),
  );
  const realm = parameters.get('realm');
  if (!/^bearer\b/i.test(challenge) || realm === undefined || !URL.canParse(realm)) {
    throw new RegistryFault(401, 'the registry asks for an authentication that is not known');
  }
  const url = new URL(realm);
  const service = parameters.get('service');
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${wanted.repository}:${wanted.pushes === true ? 'pull,push' : 'pull'}`);
  const answer = await http.send(url.href, {
    headers: credentials === undefined ? {} : { authorization: basic(credentials) },
    signal: wanted.signal,
  });
  if (answer.status !== 200) {
    throw new RegistryFault(answer.status, `${url.origin}${url.pathname}: answered with status ${answer.status}`);
  }
  const { token, access_token: other } = http.json(answer, realm);
  const value = typeof token === 'string' ? token : other;
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return `Bearer ${value}`;
  throw new RegistryFault(502, `${url.origin}${url.pathname}: answered without a token`);
}

function basic({ user, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
