import { type Authorizer, type AuthStrategy, explainIssues, GatewayFault } from '@toolmgr/core';
import { type CredentialCache, createCredentialCache } from '../../shared/credential-cache.ts';
import { createCredentialKeys } from '../../shared/credential-keys.ts';
import { type AwsCredentials, createRoleRequests, type RoleRequests } from './assume-role.ts';
import { createRoleChoice } from './choose-role.ts';
import { type AwsStsOptions, awsStsOptions } from './config.ts';
import { sessionNameFrom } from './session-name.ts';
import { SIGNATURE_HEADERS, signRequest } from './sign-request.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024; // of a request that is hashed for its signature

/** The strategy, with a method to close its connections. */
export interface AwsSts extends AuthStrategy {
  close(): Promise<void>;
}

/**
 * Creates the strategy `aws_sts`: exchanges each caller's token for temporary credentials of a role, and signs requests with
 * them. The gateway's own requests, e.g. for lists, have no caller and are not signed.
 */
export function createAwsSts({ now }: { now(): number }): AwsSts {
  const opened: RoleRequests[] = [];
  return {
    async prepare(given, where) {
      const read = awsStsOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, awsStsOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const requests = createRoleRequests(read.data, now);
      opened.push(requests);
      const cache = createCredentialCache<AwsCredentials>(now, 'requests for AWS credentials');
      return createAuthorizer(read.data, requests, cache, now);
    },
    async close() {
      await Promise.allSettled(opened.map((requests) => requests.close()));
    },
  };
}

function createAuthorizer(
  options: AwsStsOptions,
  requests: RoleRequests,
  cache: CredentialCache<AwsCredentials>,
  now: () => number,
): Authorizer {
  const keyOf = createCredentialKeys();
  const roleOf = createRoleChoice(options);
  return {
    headerNames: SIGNATURE_HEADERS,
    perCaller: true,
    async apply(request, { caller, purpose, signal }) {
      const { token, claims } = caller;
      const { name } = request.backend;
      if (token === undefined) {
        if (purpose === 'discovery') return;
        throw refused(name, 'needs AWS credentials, but this caller has no token');
      }
      if ((request.body?.byteLength ?? 0) > MAX_BODY_BYTES) {
        throw refused(name, `signs requests of at most ${MAX_BODY_BYTES} bytes`);
      }
      const key = keyOf(name, caller);
      const make = (): ReturnType<RoleRequests['assume']> => {
        const roleArn = roleOf(claims);
        if (roleArn === undefined) throw refused(name, 'has no AWS role for this caller, and no fallbackRoleArn');
        const sessionName = sessionNameFrom(claims, options.sessionNameClaim);
        if (sessionName === undefined) throw refused(name, `needs the claim ${options.sessionNameClaim} as a text`);
        return requests.assume({ roleArn, sessionName, token: token.reveal(), backend: name });
      };
      const untilMs = typeof claims.exp === 'number' ? claims.exp * 1000 : undefined;
      const found = cache.find(key) ?? (await cache.obtain(key, { make: async () => make(), untilMs }, signal));
      if (found.value !== undefined) await signRequest(request, found.value, options, now());
    },
    refused: (backend, caller) => caller.token !== undefined && cache.renew(keyOf(backend.name, caller)),
  };
}

function refused(backend: string, sentence: string): GatewayFault {
  return new GatewayFault('AUTH_STRATEGY_REFUSED', `backend "${backend}" ${sentence}`);
}
