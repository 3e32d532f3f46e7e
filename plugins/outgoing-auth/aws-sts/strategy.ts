import {
  type Authorizer,
  type AuthStrategy,
  type Caller,
  type Core,
  explainIssues,
  GatewayFault,
  type Secret,
} from '@toolmgr/core';
import {
  type CredentialCache,
  createCredentialCache,
  createCredentialKeys,
  OWN_TOKENS,
  type SubjectTokens,
  upstreamSubjects,
} from '@toolmgr/plugins/kit/credentials';
import { refuseWithoutInjection, upstreamTokensFor } from '@toolmgr/plugins/kit/oauth/settings';
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

/** What {@link createAwsSts} needs. */
export type AwsStsParts = Pick<Core, 'slot' | 'now' | 'environment'>;

/**
 * Creates the strategy `aws_sts`: exchanges a token of each caller for temporary credentials of a role, and signs requests with
 * them. It is the token that the caller got from an upstream provider when there is an authorization server, else that of the
 * request; the role is chosen by the claims of the request, and by those of the upstream provider when the options name one. The
 * gateway's own requests, e.g. for lists, have no caller and are not signed.
 */
export function createAwsSts({ slot, now, environment }: AwsStsParts): AwsSts {
  const opened: RoleRequests[] = [];
  return {
    async prepare(given, where) {
      const read = awsStsOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, awsStsOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const subjects = subjectsOf({ slot, now }, read.data, where);
      const requests = createRoleRequests(read.data, { now, environment });
      opened.push(requests);
      const cache = createCredentialCache<AwsCredentials>(now, 'requests for AWS credentials');
      return createAuthorizer(read.data, subjects, requests, cache, now);
    },
    async close() {
      await Promise.allSettled(opened.map((requests) => requests.close()));
    },
  };
}

function createAuthorizer(
  options: AwsStsOptions,
  subjects: SubjectTokens,
  requests: RoleRequests,
  cache: CredentialCache<AwsCredentials>,
  now: () => number,
): Authorizer {
  const keyOf = createCredentialKeys();
  const roleOf = createRoleChoice(options);
  const last = new WeakMap<Caller, Secret>(); // a refusal may come when the subject is no longer known
  return {
    headerNames: SIGNATURE_HEADERS,
    perCaller: true,
    async apply(request, { caller, purpose, signal }) {
      const { name } = request.backend;
      if (purpose === 'discovery' && caller.token === undefined) return;
      const subject = subjects.known(caller) ?? (await subjects.obtain(caller, signal));
      if (subject === undefined) throw refused(name, 'needs AWS credentials, but this caller has no token');
      const { token, untilMs } = subject;
      const { claims } = options.subjectProviderName === undefined ? caller : subject;
      if ((request.body?.byteLength ?? 0) > MAX_BODY_BYTES) {
        throw refused(name, `signs requests of at most ${MAX_BODY_BYTES} bytes`);
      }
      const key = keyOf(name, caller, token);
      last.set(caller, token);
      const make = (): ReturnType<RoleRequests['assume']> => {
        const roleArn = roleOf(claims);
        if (roleArn === undefined) throw refused(name, 'has no AWS role for this caller, and no fallbackRoleArn');
        const sessionName = sessionNameFrom(claims, options.sessionNameClaim);
        if (sessionName === undefined) throw refused(name, `needs the claim ${options.sessionNameClaim} as a text`);
        return requests.assume({ roleArn, sessionName, token: token.reveal(), backend: name });
      };
      const found = cache.find(key) ?? (await cache.obtain(key, { make: async () => make(), untilMs }, signal));
      if (found.value !== undefined) await signRequest(request, found.value, options, now());
    },
    refused({ name }, caller) {
      const token = subjects.known(caller)?.token ?? last.get(caller);
      return token !== undefined && cache.renew(keyOf(name, caller, token));
    },
  };
}

function subjectsOf(
  { slot, now }: Pick<Core, 'slot' | 'now'>,
  { subjectProviderName }: AwsStsOptions,
  where: string,
): SubjectTokens {
  const server = upstreamTokensFor({ slot }, subjectProviderName, { where, option: 'subjectProviderName' });
  refuseWithoutInjection(server, 'aws_sts', where);
  const provider = subjectProviderName ?? server?.providers[0];
  return server === undefined || provider === undefined ? OWN_TOKENS : upstreamSubjects(server, provider, 'jwt', now);
}

function refused(backend: string, sentence: string): GatewayFault {
  return new GatewayFault('AUTH_STRATEGY_REFUSED', `backend "${backend}" ${sentence}`);
}
