import {
  type Caller,
  type Inbound,
  type Log,
  type Refusal,
  Registry,
  type SecretSource,
  type Slot,
} from '@toolmgr/core';
import { createAuthenticator } from './authenticator.ts';
import type { OidcConfig } from './config.ts';

export { type OidcConfig, oidcConfig } from './config.ts';

/** A document that clients read to find the identity provider. */
export interface MetadataRoute {
  readonly path: string;
  /** The document for a request; `host` is its `Host` header. */
  read(host: string | undefined): string;
}

/** Authenticates the callers of a host that has no gateway. */
export interface StandaloneOidc extends AsyncDisposable {
  authenticate(request: Pick<Inbound, 'headers' | 'remoteAddress'>): Promise<Caller | Refusal>;
  /** Resource metadata (RFC 9728) of the MCP endpoint at `endpointPath`. */
  metadata(endpointPath: string): readonly MetadataRoute[];
}

/**
 * Opens the checks of `incoming-auth/oidc` for a host.
 *
 * Shape: `readSecret` gives the text of the secret that `clientSecretEnv` names.
 * @throws GatewayFault PLAN_INVALID, SECRET_MISSING
 */
export async function openOidc(
  config: OidcConfig,
  { log, readSecret }: { readonly log: Log; readonly readSecret: SecretSource['read'] },
): Promise<StandaloneOidc> {
  const secretSources = new Registry<SecretSource>('secretSources');
  secretSources.register('host', { read: readSecret });
  /** The gateway has no authorization server of its own here. */
  const slot = <T>({ name }: Slot<T>): Registry<T> => new Registry<T>(name);
  const authenticator = createAuthenticator({ log, now: Date.now, slots: { secretSources }, slot }, config);
  await authenticator.start();
  return {
    async authenticate(request) {
      const inbound = inboundOf(request);
      return authenticator.known(inbound) ?? (await authenticator.verify(inbound));
    },
    metadata(endpointPath) {
      const routes: MetadataRoute[] = [];
      authenticator.mount({
        endpointPath,
        add: (_method, path, answer) => routes.push({ path, read: (host) => sentBody(answer, host) }),
        addBelow: () => {},
      });
      return routes;
    },
    [Symbol.asyncDispose]: () => authenticator.close(),
  };
}

const NEVER = new AbortController().signal;

function inboundOf({ headers, remoteAddress }: Pick<Inbound, 'headers' | 'remoteAddress'>): Inbound {
  return { method: 'GET', path: '/', headers, remoteAddress, signal: NEVER };
}

type Answer = Parameters<Parameters<ReturnType<typeof createAuthenticator>['mount']>[0]['add']>[2];

/** The body that a route of the authenticator sends. It answers at once. */
function sentBody(answer: Answer, host: string | undefined): string {
  let sent = '';
  void answer(inboundOf({ headers: { host }, remoteAddress: undefined }), Buffer.alloc(0), {
    send(_status, _headers, body = '') {
      sent = String(body);
    },
    open() {
      throw new Error('resource metadata is not a stream');
    },
    onDisconnect() {},
  });
  return sent;
}
