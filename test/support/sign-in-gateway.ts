import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createGateway, createLog, type JsonObject } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { stringify } from 'yaml';
import { serveGateway } from '../../hosts/http/listen.ts';
import { publicClient } from './client-document.ts';
import type { HttpBrowser } from './http-browser.ts';
import { type IdentityProvider, identityProvider } from './identity-provider.ts';
import { loopbackServer } from './loopback-server.ts';
import { vmcpConfig } from './vmcp-file.ts';
import { readText } from './vmcp-text.ts';

/**
 * A gateway of a vmcp file with the authorization server, on loopback. People sign in at `corp`; `notes` and `files` want
 * their tokens of it. `mail` wants a token of `calendar`, which is connected later.
 */
export interface SignInGateway extends AsyncDisposable {
  /** URL of the MCP endpoint, which is also the resource. */
  readonly url: string;
  readonly issuer: string;
  readonly corp: IdentityProvider;
  readonly calendar: IdentityProvider;
  /** Logged warnings and errors. */
  readonly logged: readonly string[];
}

/** Settings of the file. */
export interface SignInGatewayOptions {
  /** More of `authServerConfig`. */
  readonly authServer?: JsonObject;
  /** `incomingAuth.authz`. */
  readonly authz?: JsonObject;
  /** More sections of the file. */
  readonly more?: JsonObject;
  /** The scopes that clients are told to request. */
  readonly scopes?: readonly string[];
}

/** Starts the providers, the backends and the gateway on free ports. */
export async function signInGateway(options: SignInGatewayOptions = {}): Promise<SignInGateway> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const url = `${issuer}/mcp`;
  const closing = new AsyncDisposableStack();
  try {
    const corp = closing.use(await providerFor(url));
    const calendar = closing.use(await providerFor(url));
    const backends = {
      notes: (await tokenServer(closing, corp, false)).url,
      files: (await tokenServer(closing, corp, true)).url,
      mail: (await tokenServer(closing, calendar, false)).url,
    };
    const inject = (providerName: string) => ({ type: 'upstream_inject', upstreamInject: { providerName } });
    const text = stringify(
      vmcpConfig(backends, {
        incomingAuth: {
          type: 'oidc',
          oidc: {
            issuer,
            clientId: 'gateway',
            audience: url,
            ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
          },
          ...(options.authz === undefined ? {} : { authz: options.authz }),
        },
        authServerConfig: {
          issuer,
          upstreamProviders: [
            upstreamOf('corp', corp),
            { ...upstreamOf('calendar', calendar), loginPolicy: 'onDemand' },
          ],
          cimd: { enabled: true },
          ...options.authServer,
        },
        outgoingAuth: { source: 'inline', default: inject('corp'), backends: { mail: inject('calendar') } },
        ...options.more,
      }),
    );
    const logged: string[] = [];
    const folder = await mkdtemp(join(tmpdir(), 'toolmgr-sign-in-'));
    closing.defer(() => rm(folder, { recursive: true, force: true }));
    const plan = (await readText(text, join(folder, 'vmcp.yaml'))).planWith({ loopback: true });
    const log = createLog('warn', (line) => logged.push(line));
    const gateway = await createGateway(plan, { catalogue, log, baseDir: folder });
    closing.defer(() => gateway.stop());
    closing.use(await serveGateway(gateway, { host: '127.0.0.1', port }));
    await gateway.settled();
    const all = closing.move();
    return { url, issuer, corp, calendar, logged, [Symbol.asyncDispose]: () => all.disposeAsync() };
  } catch (cause) {
    await closing.disposeAsync();
    throw cause;
  }
}

/** Secret of the client `toolmgr` at the providers. */
export const UPSTREAM_SECRET = 'secret-of-the-upstream-client';

/** An identity provider that signs `ada` in without asking, with the gateway as a client. */
export function providerFor(resource: string, host?: string): Promise<IdentityProvider> {
  return identityProvider({
    ...(host === undefined ? {} : { host }),
    configure: (configuration) => ({
      ...configuration,
      issueRefreshToken: async () => true,
      // in ID tokens too, as most companies' providers do it
      claims: { openid: ['sub', 'name', 'email', 'groups'] },
      conformIdTokenClaims: false,
      clients: [
        ...(configuration.clients ?? []),
        {
          client_id: 'toolmgr',
          client_secret: UPSTREAM_SECRET,
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: [`${resource}/oauth/callback`],
          response_types: ['code'],
        },
      ],
    }),
  });
}

function upstreamOf(name: string, { issuer }: IdentityProvider): JsonObject {
  const oidcConfig = {
    issuerUrl: issuer,
    clientId: 'toolmgr',
    clientSecretRef: { env: 'TOOLMGR_TEST_UPSTREAM_SECRET' },
  };
  return { name, type: 'oidc', allowPrivateAddresses: true, oidcConfig };
}

process.env.TOOLMGR_TEST_UPSTREAM_SECRET = UPSTREAM_SECRET;

/** An MCP server whose tool `whoami` names the person of the token. `isClosed`: its lists need a token too. */
export async function tokenServer(closing: AsyncDisposableStack, provider: IdentityProvider, isClosed: boolean) {
  const server = await loopbackServer(async (request, response) => {
    const body = await bodyOf(request);
    const isCall = (body as { method?: string } | undefined)?.method === 'tools/call';
    const person = isCall || isClosed ? await personOf(provider, request.headers.authorization) : '';
    if (person === undefined) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    const mcp = new McpServer({ name: 'token-server', version: '1.0.0' });
    mcp.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: person }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void mcp.close());
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
    await transport.handleRequest(request, response, body);
  });
  closing.defer(async () => {
    await server[Symbol.asyncDispose]();
  });
  return { url: `${server.url}/mcp` };
}

/** The subject of a token, as the provider says it. */
async function personOf({ issuer }: IdentityProvider, authorization = ''): Promise<string | undefined> {
  const answer = await fetch(`${issuer}/me`, { headers: { authorization } });
  return answer.ok ? String(((await answer.json()) as { sub?: string }).sub) : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}

/** A port that is free now. The issuer is in the file, so the port is chosen before the gateway listens. */
export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A token response. */
export interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly client_id: string;
}

/** Registers a client, signs in with a browser, and exchanges the code. */
export async function signInWith(
  { issuer, url }: Pick<SignInGateway, 'issuer' | 'url'>,
  browser: HttpBrowser,
): Promise<SignedIn> {
  const redirect = 'http://127.0.0.1:33420/callback';
  const registered = await fetch(`${issuer}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(publicClient(redirect)),
  });
  const { client_id } = (await registered.json()) as { readonly client_id: string };
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: redirect,
    state: 'state-of-the-test',
    resource: url,
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const callback = await browser.open(`${issuer}/oauth/authorize?${query}`, redirect);
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id,
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: redirect,
    code_verifier: verifier,
  });
  const answer = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: form });
  const tokens = (await answer.json()) as Omit<SignedIn, 'client_id'>;
  if (!answer.ok) throw new Error(`no token: ${callback.search} ${JSON.stringify(tokens)}`);
  return { ...tokens, client_id };
}
