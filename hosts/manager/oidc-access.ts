import { readFile } from 'node:fs/promises';
import { explainCause, explainIssues, type Log, type Refusal } from '@toolmgr/core';
import { oidcConfig, openOidc, type StandaloneOidc } from '@toolmgr/plugins/incoming-auth/oidc';
import { problem } from '@toolmgr/plugins/kit/operations';
import { UsageError } from '../shared/usage-error.ts';
import type { Access, AccessRefusal } from './http/access.ts';

/** Flags of an identity provider. */
export interface OidcFlags {
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcClientId?: string;
  readonly oidcClientSecretFile?: string;
  readonly oidcIntrospectionUrl?: string;
  readonly oidcJwksUrl?: string;
  readonly oidcScopes?: readonly string[];
  readonly oidcInsecureAllowHttp?: boolean;
  readonly jwksAllowPrivateIp?: boolean;
}

/** The flag of each setting, for error messages. */
const FLAGS: Readonly<Record<string, string>> = {
  issuer: '--oidc-issuer',
  audience: '--oidc-audience',
  clientId: '--oidc-client-id',
  clientSecretEnv: '--oidc-client-secret-file',
  introspectionUrl: '--oidc-introspection-url',
  jwksUrl: '--oidc-jwks-url',
  scopes: '--oidc-scopes',
  insecureAllowHttp: '--oidc-insecure-allow-http',
  jwksAllowPrivateIp: '--jwks-allow-private-ip',
};

/** Environment variable with the client secret, when no file is given. */
export const CLIENT_SECRET_VARIABLE = 'TOOLMGR_OIDC_CLIENT_SECRET';

/**
 * Opens the checks of tokens of an identity provider; `undefined` when no flag asks for them.
 * @throws UsageError naming the flag; GatewayFault
 */
export async function openOidcCallers(
  flags: OidcFlags,
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): Promise<StandaloneOidc | undefined> {
  const { oidcClientSecretFile: file } = flags;
  const secret = file === undefined ? env[CLIENT_SECRET_VARIABLE] : await readSecretFile(file);
  const given = settingsFrom(flags);
  if (Object.values(given).every((value) => value === undefined)) return undefined;
  const read = oidcConfig.safeParse({
    clientId: 'toolmgr', // only introspection sends it
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(secret === undefined || given.introspectionUrl === undefined
      ? {}
      : { clientSecretEnv: CLIENT_SECRET_VARIABLE }),
  });
  if (!read.success) throw new UsageError(withFlags(explainIssues('', oidcConfig, read.error)));
  return openOidc(read.data, { log, readSecret: async () => secret ?? '' });
}

/** The access of callers with a token of an identity provider. */
export function oidcAccess(oidc: StandaloneOidc): Access {
  return {
    async authenticate(request) {
      const found = await oidc.authenticate(request);
      return 'refused' in found ? refusalFrom(found) : { name: found.name ?? found.subject };
    },
  };
}

function refusalFrom({ status, reason, headers }: Refusal): AccessRefusal {
  if (status === 503) return problem('identity_unavailable', reason);
  const challenge = headers?.['www-authenticate'];
  return { ...problem('unauthorized', reason), ...(challenge === undefined ? {} : { challenge }) };
}

function settingsFrom(flags: OidcFlags) {
  return {
    issuer: flags.oidcIssuer,
    audience: flags.oidcAudience,
    clientId: flags.oidcClientId,
    introspectionUrl: flags.oidcIntrospectionUrl,
    jwksUrl: flags.oidcJwksUrl,
    scopes: flags.oidcScopes,
    insecureAllowHttp: flags.oidcInsecureAllowHttp,
    jwksAllowPrivateIp: flags.jwksAllowPrivateIp,
  };
}

async function readSecretFile(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new UsageError(`--oidc-client-secret-file: ${explainCause(cause)}`);
  }
}

/** `issuer: expected ...` as `--oidc-issuer: expected ...`. */
function withFlags(sentences: readonly string[]): string {
  return sentences.map((sentence) => sentence.replace(/^\w+/, (key) => FLAGS[key] ?? key)).join('; ');
}
