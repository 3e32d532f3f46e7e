import { z } from 'zod';

const text = z.string().min(1);

/** Options of `oauth_client`: the login of one workload, without its secrets. */
export const oauthClientOptions = z.strictObject({
  remoteUrl: z.url().describe('the remote server; a private address allows a token endpoint with one'),
  tokenUrl: z.url().describe('token endpoint; https, or http on this machine'),
  clientId: text.describe('client of the login'),
  clientSecretName: text.optional().describe("name of the client secret among the workload's secrets"),
  clientSecretFile: text.optional().describe('file with the client secret; read at the start'),
  authMethod: z
    .enum(['none', 'client_secret_basic', 'client_secret_post'])
    .optional()
    .describe('authentication at the token endpoint (default: client_secret_basic with a secret, else none)'),
  resource: text.optional().describe('resource indicator (RFC 8707)'),
  stateDir: text.describe('folder of the workloads'),
  workload: text.describe('workload that keeps the tokens among its secrets'),
});

/** The parsed options. */
export type OauthClientOptions = z.output<typeof oauthClientOptions>;
