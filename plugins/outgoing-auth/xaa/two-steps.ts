import type { JsonObject } from '@toolmgr/core';
import type { Issued } from '@toolmgr/plugins/kit/credentials';
import { bearerFrom, createBackendTokens } from '@toolmgr/plugins/kit/oauth';
import { jwtClaims } from '@toolmgr/plugins/kit/oauth/settings';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import type { XaaOptions } from './config.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'; // RFC 8693 §2.1
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'; // RFC 7523 §2.1
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'; // draft-ietf-oauth-identity-assertion-authz-grant §3
const NOT_A_TOKEN = 'n_a'; // RFC 8693 §2.2.1, in lower case

/** Both steps of cross-app access. A value is that of the `Authorization` header. */
export interface AssertionExchange {
  /** Exchanges an ID token. @throws GatewayFault as `BackendTokens.request` */
  exchange(idToken: string, backend: string): Promise<Issued<string>>;
  /** A token of the gateway itself; absent without a client secret at the backend's authorization server. */
  readonly own: ((backend: string) => Promise<Issued<string> | undefined>) | undefined;
  close(): Promise<void>;
}

/** Creates the clients of both token endpoints. `now` returns epoch milliseconds. */
export function createAssertionExchange(
  options: XaaOptions,
  secrets: { readonly idp: string | undefined; readonly target: string | undefined },
  now: () => number,
): AssertionExchange {
  const { targetAudience, targetResource, scopes } = options;
  const idp = createBackendTokens({
    url: options.idpTokenUrl,
    clientId: options.idpClientId,
    clientSecret: secrets.idp,
    what: 'identity provider',
  });
  const target = createBackendTokens({
    url: options.targetTokenUrl,
    clientId: options.targetClientId,
    clientSecret: secrets.target,
    allowHttp: options.insecureTargetTokenUrl ? 'anywhere' : 'loopback',
    what: 'authorization server',
  });
  const scope: Readonly<Record<string, string>> = scopes.length === 0 ? {} : { scope: scopes.join(' ') };

  const assertionOf = async (idToken: string, backend: string): Promise<string> => {
    const form = {
      requested_token_type: ID_JAG,
      audience: targetAudience,
      ...(targetResource === undefined ? {} : { resource: targetResource }),
      subject_token: idToken,
      subject_token_type: options.subjectTokenType,
    };
    const issued = await idp.request(TOKEN_EXCHANGE, form, backend, NOT_A_TOKEN);
    const problem = assertionProblem(issued, { targetAudience, targetResource }, now());
    if (problem !== undefined) throw idp.fault('AUTH_STRATEGY_FAILED', backend, problem);
    return String(issued.access_token);
  };
  return {
    async exchange(idToken, backend) {
      const assertion = await assertionOf(idToken, backend);
      const issued = await target.request(JWT_BEARER, { assertion, ...scope }, backend);
      return bearerFrom(issued, (sentence) => target.fault('AUTH_STRATEGY_FAILED', backend, sentence));
    },
    own: secrets.target === undefined ? undefined : (backend) => target.own(scope, backend),
    async close() {
      await Promise.allSettled([idp.close(), target.close()]);
    },
  };
}

/** Why an answer of the identity provider is not the assertion that was requested. Its signature is checked by its audience. */
function assertionProblem(
  { issued_token_type: issued, token_type: type, access_token: assertion }: JsonObject,
  { targetAudience, targetResource }: Pick<XaaOptions, 'targetAudience' | 'targetResource'>,
  nowMs: number,
): string | undefined {
  if (issued !== ID_JAG) return 'issued something that is not an identity assertion (id-jag)';
  if (type !== NOT_A_TOKEN) return 'issued an assertion whose token_type is not N_A';
  const claims = typeof assertion === 'string' ? jwtClaims(secretOf(assertion)) : undefined;
  if (claims === undefined) return 'issued an assertion that is not a JWT';
  if (!isOnly(claims.aud, targetAudience)) return 'issued an assertion whose audience is not exactly targetAudience';
  if (targetResource !== undefined && !isOnly(claims.resource, targetResource)) {
    return 'issued an assertion whose resource is not targetResource';
  }
  if (typeof claims.exp === 'number' && claims.exp * 1000 <= nowMs) return 'issued an assertion that has ended';
  return undefined;
}

function isOnly(claim: JsonObject[string] | undefined, value: string): boolean {
  return claim === value || (Array.isArray(claim) && claim.length === 1 && claim[0] === value);
}
