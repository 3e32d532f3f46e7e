import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientRefusal } from '../../../../plugins/auth-server/clients/clients.ts';
import { type LoopbackServer, loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';
import { claudeCodeDocument, vsCodeDocument } from './client-requests.ts';
import { clientsOnMemory } from './registering.ts';

const CIMD = { enabled: true, cacheFallbackTtl: 300_000, cacheMaxSize: 2 };
const ISSUER = 'http://127.0.0.1:4483';
const documents = new Map<string, (url: string) => unknown>();
const statuses = new Map<string, number>();
let web: LoopbackServer;

beforeAll(async () => {
  web = await loopbackServer((request, response) => {
    const document = documents.get(request.url ?? '');
    response.statusCode = document === undefined ? 404 : (statuses.get(request.url ?? '') ?? 200);
    response.end(JSON.stringify(document?.(`${web.url}${request.url}`) ?? {}));
  });
});
afterAll(() => web[Symbol.asyncDispose]());

/** Serves a document and returns its URL. */
function served(path: string, document: (url: string) => unknown): string {
  documents.set(path, document);
  return `${web.url}${path}`;
}

const fetches = (path: string): number => web.seen.filter((line) => line === `GET ${path}`).length;

describe('client metadata documents', () => {
  it('knows VS Code and Claude Code by their documents', async () => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
    const vsCode = served('/vscode.json', vsCodeDocument);
    expect(await clients.find(vsCode, undefined)).toMatchObject({
      client_id: vsCode,
      client_name: 'Visual Studio Code',
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      scope: 'openid profile email offline_access',
    });
    const claude = served('/claude-code.json', claudeCodeDocument);
    expect(await clients.find(claude, undefined)).toMatchObject({
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    });
  });

  proves(
    'vmcp.auth-server.baseline-client-scopes-request',
    'lets every kind of client request the baseline scopes',
    async () => {
      const { clients } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER, baselineClientScopes: ['tools'] });
      const url = served('/baseline.json', (id) => ({ ...vsCodeDocument(id), scope: 'openid' }));
      expect(await clients.find(url, undefined)).toMatchObject({ scope: 'openid tools' });
    },
  );

  proves(
    ['vmcp.auth-server.cimd-absent', 'vmcp.auth-server.cimd.disabled-dcr-only'],
    'knows no client by a document unless they are enabled',
    async () => {
      const { clients } = clientsOnMemory({ issuer: ISSUER });
      expect(clients.allowsDocuments).toBe(false);
      expect(await clients.find(served('/off.json', vsCodeDocument), undefined)).toBeUndefined();
      expect(fetches('/off.json')).toBe(0);
    },
  );

  it('fetches a document once for concurrent requests, and again after its time', async () => {
    const { clients, clock } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
    const url = served('/once.json', vsCodeDocument);
    await Promise.all(Array.from({ length: 20 }, (_, n) => clients.find(url, `10.0.0.${n}`)));
    clock.nowMs += 299_999;
    await clients.find(url, undefined);
    expect(fetches('/once.json')).toBe(1);
    clock.nowMs += 1;
    await clients.find(url, undefined);
    expect(fetches('/once.json')).toBe(2);
  });

  proves(
    'choice.clients.document-cache',
    'keeps the configured number of documents, those that were used last',
    async () => {
      const { clients } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
      const [a, b, c] = ['/a.json', '/b.json', '/c.json'].map((path) => served(path, vsCodeDocument)) as [
        string,
        string,
        string,
      ];
      for (const url of [a, b, a, c, a, b]) await clients.find(url, undefined);
      expect(['/a.json', '/b.json', '/c.json'].map(fetches)).toEqual([1, 2, 1]);
    },
  );

  it('does not cache a refusal', async () => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
    const url = `${web.url}/later.json`;
    expect(await clients.find(url, undefined)).toEqual(
      new ClientRefusal('the URL has no JSON object without repeated members'),
    );
    served('/later.json', vsCodeDocument);
    expect(await clients.find(url, undefined)).toMatchObject({ client_id: url });
  });

  proves(
    'choice.clients.document-away',
    'uses a known document for a day while its server is away, and asks again once a minute',
    async () => {
      const { clients, clock } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
      const url = served('/away.json', vsCodeDocument);
      await clients.find(url, undefined);
      statuses.set('/away.json', 503);
      clock.nowMs += 300_000;
      for (let n = 0; n < 3; n++) expect(await clients.find(url, undefined)).toMatchObject({ client_id: url });
      expect(fetches('/away.json')).toBe(2);
      clock.nowMs += 60_000;
      expect(await clients.find(url, undefined)).toMatchObject({ client_id: url });
      expect(fetches('/away.json')).toBe(3);
      clock.nowMs += 24 * 3_600_000;
      expect(await clients.find(url, undefined)).toEqual(new ClientRefusal('the document cannot be fetched', true));
      statuses.delete('/away.json');
      expect(await clients.find(url, undefined)).toMatchObject({ client_id: url });
    },
  );

  it('ends a client when its document is gone or changed', async () => {
    const { clients, clock } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
    const url = served('/gone.json', vsCodeDocument);
    await clients.find(url, undefined);
    clock.nowMs += 300_000;
    statuses.set('/gone.json', 410);
    expect(await clients.find(url, undefined)).toMatchObject({ isTemporary: false });
    statuses.set('/gone.json', 503);
    expect(await clients.find(url, undefined)).toMatchObject({ isTemporary: true });
  });

  it.each<[string, (id: string) => JsonObject, string]>([
    ['another client id', () => vsCodeDocument('https://vscode.dev/oauth/client-metadata.json') as never, 'client_id'],
    ['no client id', (id) => ({ ...vsCodeDocument(id), client_id: undefined }) as never, 'client_id'],
    [
      'a method with a secret',
      (id) => ({ ...vsCodeDocument(id), token_endpoint_auth_method: 'client_secret_post' }) as never,
      'expected none',
    ],
    ['a secret', (id) => ({ ...vsCodeDocument(id), client_secret: 'x' }) as never, 'client_secret'],
    [
      'an own scheme',
      (id) => ({ ...vsCodeDocument(id), redirect_uris: ['cursor://x/cb'] }) as never,
      'redirect_uris[0]',
    ],
    [
      'plain http',
      (id) => ({ ...vsCodeDocument(id), redirect_uris: ['http://a.example/cb'] }) as never,
      'redirect_uris[0]',
    ],
    [
      'a thousand redirects',
      (id) => ({ ...vsCodeDocument(id), redirect_uris: Array(1000).fill('a:') }) as never,
      '1 to 10',
    ],
    ['no grant of this server', (id) => ({ ...vsCodeDocument(id), grant_types: ['password'] }) as never, 'grant_types'],
    ['an unsupported scope', (id) => ({ ...vsCodeDocument(id), scope: 'root' }) as never, 'scope'],
    [
      'a name that changes its direction',
      (id) => ({ ...vsCodeDocument(id), client_name: '\u202eedoC' }) as never,
      'client_name',
    ],
  ])('refuses a document with %s', async (what, document, words) => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: ISSUER });
    const found = await clients.find(served(`/bad/${encodeURIComponent(what)}`, document), undefined);
    expect(found).toBeInstanceOf(ClientRefusal);
    expect((found as ClientRefusal).description).toContain(words);
  });
});
