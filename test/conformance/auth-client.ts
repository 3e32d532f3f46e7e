// The client under test of the suite's `auth/*` scenarios: the login of `toolmgr run`, whose browser is a loop that follows the
// redirects of the harness, and then calls with the token that it got. A refusal that another login helps against, is followed as
// `toolmgr restart` does: with the client and the scopes of the last login.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type CachedClient,
  type Login,
  logIn,
  scopesLackedIn,
} from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import getPort from 'get-port';
import type { DriverTask } from './driver-task.ts';

const METADATA_URL = 'https://conformance-test.local/client-metadata.json';
const LOGIN_MS = 30_000;
const MAX_LOGINS = 2;

/** Logs in at the harness and makes the calls of an `auth/*` scenario. @throws Error when a login fails or a call is not answered */
export async function logInAndCall({ harness, context, isModern }: DriverTask): Promise<void> {
  const { client_id: clientId, client_secret: clientSecret } = context as {
    readonly client_id?: string;
    readonly client_secret?: string;
  };
  /** Tests that run beside this one need the default port. */
  const callbackPort = await getPort();
  let login: Login | undefined;
  let refusal: Response | undefined;
  for (let logins = 1; ; logins++) {
    const lacking = await lackingScopes();
    login = await loggedIn([...(login?.scopes ?? []), ...lacking]);
    refusal = undefined;
    try {
      return await callAll();
    } catch (cause) {
      if (logins === MAX_LOGINS || !(await isHelpedByLogin())) throw cause;
    }
  }

  async function callAll(): Promise<void> {
    const headers: Record<string, string> =
      login === undefined ? {} : { authorization: `Bearer ${login.tokens.accessToken}` };
    const client = new Client(
      { name: 'conformance-driver', version: '1.0.0' },
      { versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' } },
    );
    const noted: typeof fetch = async (...asked) => {
      const response = await fetch(...asked);
      if (response.status === 401 || response.status === 403) refusal = response;
      return response;
    };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(harness), { requestInit: { headers }, fetch: noted }),
    );
    for (const { name } of (await client.listTools()).tools) await client.callTool({ name, arguments: {} });
    await client.close();
  }

  async function isHelpedByLogin(): Promise<boolean> {
    if (refusal?.status === 401) return true;
    const lacking = await lackingScopes();
    return lacking.some((scope) => login?.scopes.includes(scope) !== true);
  }

  async function lackingScopes(): Promise<readonly string[]> {
    const challenge = refusal?.headers.get('www-authenticate');
    return refusal?.status === 403 && typeof challenge === 'string' ? scopesLackedIn(challenge) : [];
  }

  async function loggedIn(furtherScopes: readonly string[]): Promise<Login | undefined> {
    const outcome = await logIn({
      remote: { url: harness, transport: 'streamable-http', headers: {} },
      settings: {
        isRequired: false,
        metadataUrl: METADATA_URL,
        callbackPort,
        ...(clientId === undefined ? {} : { clientId }),
        ...(clientSecret === undefined ? {} : { clientSecret }),
      },
      cached: cachedClient(),
      furtherScopes,
      timeoutMs: LOGIN_MS,
      show: ({ url }) => void fetch(url).then((page) => page.arrayBuffer()),
      now: Date.now,
      signal: AbortSignal.timeout(2 * LOGIN_MS),
    });
    if (outcome.kind === 'failed') throw new Error(outcome.reason);
    return outcome.kind === 'done' ? outcome.login : undefined;
  }

  function cachedClient(): CachedClient | undefined {
    if (login?.issuer === undefined || login.client.from !== 'registration') return undefined;
    return { ...login.client, issuer: login.issuer, port: login.callbackPort };
  }
}
