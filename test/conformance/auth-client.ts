// The client under test of the suite's `auth/*` scenarios: the login of `toolmgr run`, whose browser is a loop that follows the
// redirects of the harness, and then calls with the token that it got. Argument: the URL of the harness.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Login, logIn } from '@toolmgr/plugins/outgoing-auth/oauth-client/login';

const [harness = ''] = process.argv.slice(2);
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(
  process.env.MCP_CONFORMANCE_CONTEXT ?? '{}',
) as { readonly client_id?: string; readonly client_secret?: string };
const METADATA_URL = 'https://conformance-test.local/client-metadata.json';
const LOGIN_MS = 10_000;

const login = await loggedIn();
const headers: Record<string, string> =
  login === undefined ? {} : { authorization: `Bearer ${login.tokens.accessToken}` };
const isModern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
const client = new Client(
  { name: 'conformance-driver', version: '1.0.0' },
  { versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(harness), { requestInit: { headers } }));
for (const { name } of (await client.listTools()).tools) await client.callTool({ name, arguments: {} });
await client.close();

async function loggedIn(): Promise<Login | undefined> {
  const outcome = await logIn({
    remote: { url: harness, transport: 'streamable-http', headers: {} },
    settings: {
      isRequired: false,
      metadataUrl: METADATA_URL,
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
    },
    cached: undefined,
    timeoutMs: LOGIN_MS,
    show: ({ url }) => void fetch(url).then((page) => page.arrayBuffer()),
    now: Date.now,
    signal: AbortSignal.timeout(2 * LOGIN_MS),
  });
  if (outcome.kind === 'failed') throw new Error(outcome.reason);
  return outcome.kind === 'done' ? outcome.login : undefined;
}
