import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { authServerConfig } from '../../../../plugins/auth-server/config.ts';
import { type AuthServerRig, authServerRig, type FormReply } from '../../../support/auth-server-rig.ts';
import { type IdentityProvider, identityProvider } from '../../../support/identity-provider.ts';

type Config = z.input<typeof authServerConfig>;
type Issuer = NonNullable<Config['trustedIssuers']>[number];
type Client = NonNullable<Config['delegateClients']>[number];

export const SECRET = 'secret-of-the-delegate-with-enough-characters';
export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
export const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
export const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

/** An authorization server with the delegate `agent` and another issuer. */
export interface DelegationRig extends AsyncDisposable {
  readonly rig: AuthServerRig;
  readonly other: IdentityProvider;
  /** Exchanges a token as a configured client. */
  exchange(form: Readonly<Record<string, string>>, client?: string, secret?: string): Promise<FormReply>;
}

/** What differs from the default. */
export interface DelegationChanges {
  readonly issuer?: (facts: { readonly audience: string }) => Partial<Issuer>;
  readonly clients?: (facts: {
    readonly audience: string;
    readonly clientSecretRef: Client['clientSecretRef'];
  }) => Client[];
  readonly config?: Partial<Config>;
}

/** Starts the rig. */
export async function delegationRig({ issuer, clients, config }: DelegationChanges = {}): Promise<DelegationRig> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-delegation-'));
  const file = join(folder, 'secret');
  await writeFile(file, `${SECRET}\n`, { mode: 0o600 });
  const clientSecretRef = { file };
  const other = await identityProvider();
  const rig = await authServerRig({
    config: ({ audience }) => ({
      scopesSupported: ['tools'],
      delegateClients: clients?.({ audience, clientSecretRef }) ?? [
        { clientId: 'agent', clientSecretRef, scopes: ['openid', 'tools'] },
        { clientId: 'second', clientSecretRef, scopes: ['openid', 'tools'] },
      ],
      trustedIssuers: [
        {
          issuer: other.issuer,
          insecureAllowHTTP: true,
          jwksAllowPrivateIP: true,
          expectedAudience: audience,
          allowedDelegateClients: ['agent'],
          ...issuer?.({ audience }),
        },
      ],
      ...config,
    }),
  });
  return {
    rig,
    other,
    exchange: (form, client = 'agent', secret = SECRET) =>
      rig.token(
        { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN, ...form },
        { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
      ),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
