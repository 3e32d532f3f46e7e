import type { Issued } from '@toolmgr/plugins/kit/credentials';
import { bearerFrom, createBackendTokens } from '@toolmgr/plugins/kit/oauth';
import { ACCESS_TOKEN, JWT, type TokenExchangeOptions } from './config.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'; // RFC 8693 §2.1

/** A client of one token endpoint. A value is that of the `Authorization` header. */
export interface TokenRequests {
  /** Exchanges a caller's token. @throws GatewayFault as `BackendTokens.request` */
  exchange(subjectToken: string, backend: string): Promise<Issued<string>>;
  /**
   * A token of the gateway itself (client credentials); `undefined` when the endpoint issues none. Absent without a client
   * secret. @throws GatewayFault as `exchange`
   */
  readonly own: ((backend: string) => Promise<Issued<string> | undefined>) | undefined;
  /** Closes connections; pending requests fail. */
  close(): Promise<void>;
}

/** Creates the client, which connects on the first request. */
export function createTokenRequests(options: TokenExchangeOptions, clientSecret: string | undefined): TokenRequests {
  const { tokenUrl, audience, clientId, scopes, subjectTokenType } = options;
  const endpoint = createBackendTokens({ url: tokenUrl, clientId, clientSecret });
  const target = {
    ...(audience === undefined ? {} : { audience }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  return {
    async exchange(subjectToken, backend) {
      const form = {
        subject_token: subjectToken,
        subject_token_type: subjectTokenType,
        requested_token_type: ACCESS_TOKEN,
        ...target,
      };
      const fault = (sentence: string) => endpoint.fault('AUTH_STRATEGY_FAILED', backend, sentence);
      const issued = await endpoint.request(GRANT, form, backend);
      const type = issued.issued_token_type; // required: RFC 8693 §2.2.1
      if (type === ACCESS_TOKEN || type === JWT) return bearerFrom(issued, fault);
      throw fault('issued something that is not an access token');
    },
    own: clientSecret === undefined ? undefined : (backend) => endpoint.own(target, backend),
    close: () => endpoint.close(),
  };
}
