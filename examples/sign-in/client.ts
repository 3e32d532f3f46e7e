import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

/** An MCP client that signs in by itself, as Claude Code and VS Code do: with a redirect to a port of this machine. */
export interface SigningClient extends AsyncDisposable {
  readonly client: Client;
  /** The token that the gateway issued. */
  readonly accessToken: string;
}

const NAME = 'Story client';
const ANSWER_MS = 60_000;

/**
 * Connects to an endpoint without a token, registers, sends a person to a page, and connects with the token that it gets.
 * `show` opens the page in the browser of the person.
 */
export async function signInAndConnect(endpoint: URL, show: (url: URL) => Promise<void>): Promise<SigningClient> {
  const { callback, redirectUrl, close } = await callbackServer();
  try {
    const provider = authProvider(redirectUrl, show);
    const first = transportTo(endpoint, provider);
    const refused = await newClient()
      .connect(first)
      .then(
        () => 'accepted',
        (cause: unknown) => String(cause),
      );
    if (!/unauthorized/i.test(refused)) throw new Error(`expected a sign-in without a token, got: ${refused}`);
    await first.finishAuth(await callback);
    const client = newClient();
    await client.connect(transportTo(endpoint, provider));
    const tokens = (await provider.tokens()) as OAuthTokens;
    return { client, accessToken: tokens.access_token, [Symbol.asyncDispose]: () => client.close() };
  } finally {
    close();
  }
}

function newClient(): Client {
  const capabilities = { elicitation: { url: {} } }; // it can open links
  return new Client({ name: NAME, version: '1.0.0' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
}

function transportTo(endpoint: URL, authProvider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(endpoint, { authProvider });
}

/** Waits for the redirect with the code. */
async function callbackServer() {
  const arrived = Promise.withResolvers<URLSearchParams>();
  const timer = setTimeout(() => arrived.reject(new Error('no redirect with a code arrived')), ANSWER_MS);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname !== '/callback') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the client has its code</p>');
    const error = searchParams.get('error');
    if (error === null) arrived.resolve(searchParams);
    else arrived.reject(new Error(`the sign-in failed: ${error}: ${searchParams.get('error_description') ?? ''}`));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  arrived.promise.catch(() => {}); // it is awaited later
  return {
    redirectUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    callback: arrived.promise,
    close(): void {
      clearTimeout(timer);
      server.closeAllConnections();
      server.close();
    },
  };
}

function authProvider(redirectUrl: string, show: (url: URL) => Promise<void>): OAuthClientProvider {
  let registered: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let verifier = '';
  return {
    redirectUrl,
    clientMetadata: {
      client_name: NAME,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => registered,
    saveClientInformation: (client) => {
      registered = client;
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given;
    },
    redirectToAuthorization: (url) => void show(url),
    saveCodeVerifier: (text) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (found) => {
      discovery = found;
    },
  };
}
