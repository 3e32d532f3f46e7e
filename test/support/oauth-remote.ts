import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { jwtVerify } from 'jose';
import { z } from 'zod';
import type { IdentityProvider } from './identity-provider.ts';
import { loopbackServer } from './loopback-server.ts';

/** One request that the remote server received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
}

/** An MCP server that takes only tokens of an identity provider for its own URL. */
export interface OauthRemote extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly seen: SeenRequest[];
  /** Answers 401 to this token from now on. */
  refuse(token: string): void;
}

/** Options of an {@link oauthRemote}. */
export interface OauthRemoteOptions {
  /** Revision that it serves. */
  readonly era: '2025-11-25' | '2026-07-28';
  /** Where its resource metadata is. Default: at its path. */
  readonly metadata?: 'path' | 'root' | 'none';
  /** Members that replace those of the metadata. */
  readonly about?: (origin: string) => object;
  /** Serves requests without a token. */
  readonly isOpen?: boolean;
  /** Calls of tools need this scope. */
  readonly callScope?: string;
  /** The `WWW-Authenticate` header; `undefined`: none. Default: names the metadata. */
  readonly challenge?: (origin: string) => string | undefined;
}

const RESOURCE = '/.well-known/oauth-protected-resource';

/** Starts the server. */
export async function oauthRemote(idp: IdentityProvider, options: OauthRemoteOptions): Promise<OauthRemote> {
  const seen: SeenRequest[] = [];
  const refused = new Set<string>();
  const serve = options.era === '2026-07-28' ? modernServer() : legacyServer();
  let origin = '';
  /** The scopes of a token that is accepted. */
  const scopesOf = async (authorization: string | undefined): Promise<readonly string[] | undefined> => {
    const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
    if (token === undefined || refused.has(token)) return undefined;
    const key = idp.publicKeys().find(({ alg }) => alg === 'ES256')?.key;
    if (key === undefined) throw new Error('the provider has no key');
    return jwtVerify(token, key, { issuer: idp.issuer, audience: `${origin}/mcp` }).then(
      ({ payload }) => String(payload.scope ?? '').split(' '),
      () => undefined,
    );
  };
  const server = await loopbackServer(async (request, response) => {
    const path = request.url ?? '';
    seen.push({ method: request.method ?? '', path, authorization: request.headers.authorization });
    if (path === metadataPath(options)) return json(response, 200, about(options, idp, origin));
    if (path.startsWith('/.well-known/')) return json(response, 404, {});
    const scopes = await scopesOf(request.headers.authorization);
    const { callScope } = options;
    const isCall = request.headers['mcp-method'] === 'tools/call';
    if (scopes !== undefined && isCall && callScope !== undefined && !scopes.includes(callScope)) {
      const lacking = `Bearer error="insufficient_scope", scope="${callScope}", resource_metadata="${origin}${RESOURCE}/mcp"`;
      return json(response, 403, { error: 'insufficient_scope' }, { 'www-authenticate': lacking });
    }
    if (options.isOpen === true || scopes !== undefined) return serve(request, response);
    const { challenge = (own) => `Bearer resource_metadata="${own}${RESOURCE}/mcp"` } = options;
    const header = challenge(origin);
    json(response, 401, { error: 'invalid_token' }, header === undefined ? {} : { 'www-authenticate': header });
  });
  origin = server.url;
  return {
    url: `${origin}/mcp`,
    origin,
    seen,
    refuse: (token) => void refused.add(token),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}

function metadataPath({ metadata = 'path' }: OauthRemoteOptions): string | undefined {
  if (metadata === 'none') return undefined;
  return metadata === 'path' ? `${RESOURCE}/mcp` : RESOURCE;
}

function about({ about: replaced }: OauthRemoteOptions, idp: IdentityProvider, origin: string): object {
  const scopes_supported = ['tools'];
  return { resource: `${origin}/mcp`, authorization_servers: [idp.issuer], scopes_supported, ...replaced?.(origin) };
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown;

const SAYS = { description: 'Says it again', inputSchema: z.object({ message: z.string() }) };
const echo = ({ message }: { message: string }) => ({ content: [{ type: 'text' as const, text: `echo: ${message}` }] });

function modernServer(): Serve {
  return toNodeHandler(
    createMcpHandler(
      () => {
        const server = new McpServer({ name: 'remote', version: '1.0.0' });
        server.registerTool('echo', SAYS, echo);
        return server;
      },
      { legacy: 'reject' },
    ),
  );
}

function legacyServer(): Serve {
  return async (request, response) => {
    const server = new LegacyServer({ name: 'remote', version: '1.0.0' });
    server.registerTool('echo', { ...SAYS, inputSchema: SAYS.inputSchema.shape }, echo);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void server.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  };
}

/** What a browser showed in the end. */
export interface BrowserPage {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/**
 * Opens the URL of a login as a browser does, logs in and follows all redirects. `change` may alter the redirect to the callback
 * server, or return `undefined` to end there.
 */
export async function followLogin(
  url: string,
  change: (callback: URL) => URL | undefined = (same) => same,
): Promise<BrowserPage | undefined> {
  const cookies = new Map<string, string>();
  let at = new URL(url);
  for (let steps = 0; steps < 20; steps++) {
    if (at.pathname === '/callback') {
      const wanted = change(at);
      if (wanted === undefined) return undefined;
      at = wanted;
    }
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { status: response.status, text: await response.text(), headers: response.headers };
    at = new URL(location, at);
  }
  throw new Error('the login redirects in a circle');
}
