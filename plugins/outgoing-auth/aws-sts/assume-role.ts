import { AssumeRoleWithWebIdentityCommand, STSClient, STSServiceException } from '@aws-sdk/client-sts';
import { type Core, GatewayFault } from '@toolmgr/core';
import type { Issued } from '@toolmgr/plugins/kit/credentials';
import { createStsHttp } from './sts-http.ts';

const MAX_ATTEMPTS = 2; // the request changes nothing, so it may be repeated

/** Temporary credentials. Never logged. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** One request for credentials. */
export interface RoleRequest {
  readonly roleArn: string;
  readonly sessionName: string;
  /** The caller's token. */
  readonly token: string;
  /** Name of the backend, for errors. */
  readonly backend: string;
}

/** A client of STS in one region. */
export interface RoleRequests {
  /**
   * Sends AssumeRoleWithWebIdentity, which needs no AWS credentials.
   * @throws GatewayFault AUTH_STRATEGY_REFUSED when AWS refuses the caller's token or the role, AUTH_STRATEGY_FAILED for
   * other errors; neither contains a token or a text of AWS
   */
  assume(wanted: RoleRequest): Promise<Issued<AwsCredentials>>;
  /** Closes connections; pending requests fail. */
  close(): Promise<void>;
}

/** Creates the client. It uses the regional endpoint, or that of the variable `AWS_ENDPOINT_URL_STS`. */
export function createRoleRequests(
  { region, sessionDuration }: { readonly region: string; readonly sessionDuration: number },
  { now, environment }: Pick<Core, 'now' | 'environment'>,
): RoleRequests {
  const http = createStsHttp();
  const endpoint = environment.AWS_ENDPOINT_URL_STS;
  const client = new STSClient({
    region,
    requestHandler: http.handler,
    maxAttempts: MAX_ATTEMPTS,
    ...(endpoint === undefined || endpoint === '' ? {} : { endpoint }),
  });
  return {
    async assume({ roleArn, sessionName, token, backend }) {
      const command = new AssumeRoleWithWebIdentityCommand({
        RoleArn: roleArn,
        RoleSessionName: sessionName,
        WebIdentityToken: token,
        DurationSeconds: sessionDuration,
      });
      try {
        const { Credentials: issued } = await client.send(command);
        const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = issued ?? {};
        if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined) {
          throw fault('AUTH_STRATEGY_FAILED', backend, 'returned no credentials');
        }
        const endMs = issued?.Expiration?.getTime();
        const lifetimeMs = endMs === undefined ? undefined : Math.max(0, endMs - now());
        return { value: { accessKeyId, secretAccessKey, sessionToken }, lifetimeMs };
      } catch (cause) {
        throw explained(cause, backend);
      }
    },
    close: () => http.close(),
  };
}

function explained(cause: unknown, backend: string): GatewayFault {
  if (cause instanceof GatewayFault && cause.code.startsWith('AUTH_STRATEGY_')) return cause;
  if (!(cause instanceof STSServiceException)) {
    return new GatewayFault('AUTH_STRATEGY_FAILED', messageOf(backend, 'is unavailable'), { cause });
  }
  const known = STS_ERRORS.get(cause.name);
  if (known !== undefined) return fault(known[0], backend, `${known[1]} (${cause.name})`);
  return fault('AUTH_STRATEGY_FAILED', backend, `answered with status ${cause.$metadata.httpStatusCode ?? 'unknown'}`);
}

/** Errors of AssumeRoleWithWebIdentity. Other names are not logged. */
const STS_ERRORS: ReadonlyMap<string, readonly [GatewayFault['code'], string]> = new Map([
  [
    'ExpiredTokenException',
    ['AUTH_STRATEGY_REFUSED', 'says that the token has expired: the caller has to sign in again'],
  ],
  ['InvalidIdentityToken', ['AUTH_STRATEGY_REFUSED', "does not accept the caller's token"]],
  ['InvalidIdentityTokenException', ['AUTH_STRATEGY_REFUSED', "does not accept the caller's token"]],
  ['IDPRejectedClaim', ['AUTH_STRATEGY_REFUSED', "does not accept the claims of the caller's token"]],
  ['IDPRejectedClaimException', ['AUTH_STRATEGY_REFUSED', "does not accept the claims of the caller's token"]],
  ['AccessDenied', ['AUTH_STRATEGY_REFUSED', 'denies the caller the role']],
  ['AccessDeniedException', ['AUTH_STRATEGY_REFUSED', 'denies the caller the role']],
  ['IDPCommunicationError', ['AUTH_STRATEGY_FAILED', 'cannot reach the identity provider']],
  ['IDPCommunicationErrorException', ['AUTH_STRATEGY_FAILED', 'cannot reach the identity provider']],
  ['RegionDisabledException', ['AUTH_STRATEGY_FAILED', 'is disabled in the configured region']],
  ['ValidationError', ['AUTH_STRATEGY_FAILED', 'does not accept the role, the session name or the duration']],
] as const);

function fault(code: GatewayFault['code'], backend: string, sentence: string): GatewayFault {
  return new GatewayFault(code, messageOf(backend, sentence));
}

function messageOf(backend: string, sentence: string): string {
  return `backend "${backend}": AWS STS ${sentence}`;
}
