import {
  Client as ClientV2,
  type OAuthClientProvider as ProviderV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import type { OAuthClientProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientDocument, clientDocument, publicClient } from '../../../support/client-document.ts';
import { httpBrowser } from '../../../support/http-browser.ts';
import { type SignInGateway, signInGateway } from '../../../support/sign-in-gateway.ts';

const REDIRECT = 'http://127.0.0.1:33418/callback';
const METADATA = publicClient(REDIRECT);

let gateway: SignInGateway;
let document: ClientDocument;

beforeAll(async () => {
  gateway = await signInGateway();
  document = await clientDocument(METADATA);
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await document?.[Symbol.asyncDispose]();
});

interface Kept {
  client?: { readonly client_id: string } | undefined;
  tokens?: { access_token: string; token_type: string; refresh_token?: string } | undefined;
  verifier?: string;
  discovery?: unknown;
  readonly opened: URL[];
}

/** What an application implements for either SDK. */
function application(document?: string): ProviderV1 & ProviderV2 & { readonly kept: Kept } {
  const kept: Kept = { opened: [] };
  const provider = {
    kept,
    redirectUrl: REDIRECT,
    clientMetadata: METADATA,
    ...(document === undefined ? {} : { clientMetadataUrl: document }),
    state: () => 'state-of-the-test',
    clientInformation: () => kept.client,
    saveClientInformation: (client: { readonly client_id: string }) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: Kept['tokens']) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url: URL) => void kept.opened.push(url),
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (state: unknown) => {
      kept.discovery = state;
    },
  };
  return provider as unknown as ReturnType<typeof application>;
}

interface Connected {
  names(): Promise<string[]>;
  call(name: string): Promise<unknown>;
  close(): Promise<void>;
}

type Connect = (provider: ReturnType<typeof application>) => Promise<Connected>;

const text = (result: unknown): unknown => (result as { content: { text?: string }[] }).content[0]?.text;

/** Connects, signs in in a browser when that is asked for, and connects again. */
function connectV1(capabilities = {}): Connect {
  return async (authProvider) => {
    const attempt = async () => {
      const transport = new TransportV1(new URL(gateway.url), { authProvider });
      const client = new ClientV1({ name: 'sdk-1', version: '1' }, { capabilities });
      return { transport, client, connected: client.connect(transport as Parameters<typeof client.connect>[0]) };
    };
    const first = await attempt();
    await expect(first.connected).rejects.toThrow(/Unauthorized/i);
    await first.transport.finishAuth(await signIn(authProvider.kept));
    const { client, connected } = await attempt();
    await connected;
    return {
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name) => text(await client.callTool({ name, arguments: {} })),
      close: () => client.close(),
    };
  };
}

function connectV2(mode: 'auto' | 'legacy'): Connect {
  return async (authProvider) => {
    const attempt = async () => {
      const transport = new TransportV2(new URL(gateway.url), { authProvider });
      const client = new ClientV2({ name: 'sdk-2', version: '1' }, { versionNegotiation: { mode } });
      return { transport, client, connected: client.connect(transport) };
    };
    const first = await attempt();
    await expect(first.connected).rejects.toThrow(/Unauthorized/i);
    await first.transport.finishAuth(await callback(authProvider.kept));
    const { client, connected } = await attempt();
    await connected;
    return {
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name) => text(await client.callTool({ name, arguments: {} })),
      close: () => client.close(),
    };
  };
}

/** The query with which the browser comes back to the application. */
async function callback({ opened }: Kept): Promise<URLSearchParams> {
  const [url] = opened;
  if (opened.length !== 1 || url === undefined) throw new Error(`opened ${opened.length} pages`);
  const { searchParams } = await httpBrowser().open(url, REDIRECT);
  expect(Object.fromEntries(searchParams)).toMatchObject({ state: 'state-of-the-test', iss: gateway.issuer });
  return searchParams;
}

const signIn = async (kept: Kept): Promise<string> => (await callback(kept)).get('code') ?? '';

const CLIENTS: readonly (readonly [string, Connect])[] = [
  ['SDK 1.x', connectV1()],
  ['SDK 2.x, 2026-07-28', connectV2('auto')],
  ['SDK 2.x, 2025-11-25', connectV2('legacy')],
];

describe.each(CLIENTS)('%s', (_name, connect) => {
  it('registers, signs in and calls both backends as the person', async () => {
    const app = application();
    const client = await connect(app);
    expect(app.kept.client?.client_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await client.names()).toEqual(expect.arrayContaining(['files_whoami', 'mail_whoami', 'notes_whoami']));
    expect([await client.call('notes_whoami'), await client.call('files_whoami')]).toEqual(['ada', 'ada']);
    await client.close();
  });

  it('identifies itself by its metadata document', async () => {
    const app = application(document.id);
    const client = await connect(app);
    expect(app.kept.client?.client_id).toBe(document.id);
    expect(await client.call('notes_whoami')).toBe('ada');
    await client.close();
  });

  it('refreshes its token when the gateway refuses it', async () => {
    const app = application();
    const client = await connect(app);
    const { tokens } = app.kept;
    expect(tokens?.refresh_token).toEqual(expect.any(String));
    if (tokens === undefined) throw new Error('no tokens');
    app.kept.tokens = { ...tokens, access_token: `${tokens.access_token.slice(0, -8)}AAAAAAAA` };
    expect(await client.call('notes_whoami')).toBe('ada');
    expect(app.kept.tokens?.refresh_token).not.toBe(tokens.refresh_token);
    expect(app.kept.opened).toHaveLength(1); // no second sign-in
    await client.close();
  });
});
