// Each entry of the kit, once: those without a network are in texts.ts.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './server.ts';
import './texts.ts';

const { origin, close } = await startServer();
const folder = mkdtempSync(join(tmpdir(), 'kit-'));
const signal = AbortSignal.timeout(10_000);

// region: safe-http
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';

// on the internet none of the four is needed: only https, only public addresses
const http = createRemoteHttp({ allowHttp: true, allowPrivateAddresses: true, timeoutMs: 5_000, maxBytes: 100_000 });
const discovered = await http.getJson(`${origin}/.well-known/openid-configuration`, signal);
assert.equal(discovered.issuer, origin);
await assert.rejects(createRemoteHttp().getJson('https://127.0.0.1/'), { code: 'REMOTE_REFUSED' });

// endregion

// region: oauth
import { OauthRefusal, requestToken } from '@toolmgr/plugins/kit/oauth';

const client = { id: 'gateway', secret: 'hunter2' };
const endpoint = { url: `${origin}/token`, client, http };
const issued = await requestToken(endpoint, 'client_credentials', { scope: 'tickets' }, { signal });
assert.equal(issued instanceof OauthRefusal ? issued.problem : issued.access_token, 'for tickets');

// endregion

// region: credentials
import { createCredentialCache } from '@toolmgr/plugins/kit/credentials';

const cache = createCredentialCache<string>(Date.now, 'tickets');
let requests = 0;
const source = {
  make: async () => ({ value: `ticket ${++requests}`, lifetimeMs: 60_000 }),
  untilMs: undefined,
};
const got = await Promise.all([cache.obtain('ada', source, signal), cache.obtain('ada', source, signal)]);
assert.deepEqual(
  got.map(({ value }) => value),
  ['ticket 1', 'ticket 1'],
);

// endregion

// region: issuer-keys
import { createFetchKeys } from '@toolmgr/plugins/kit/issuer-keys';

const { keys } = await createFetchKeys({ issuer: origin }, http)(signal);
assert.equal(keys.length, 1);

// endregion

// region: embedding
import { createEmbeddingService, unitVectors } from '@toolmgr/plugins/kit/embedding';

const service = createEmbeddingService(origin, { headers: {}, timeoutMs: 5_000 });
const rows = await service.post('/embed', { inputs: ['hello'] }, 1, signal);
assert.deepEqual(unitVectors(rows, 1, origin), [Float32Array.of(0.6, 0.8)]);
await service.close();

// endregion

// region: kubernetes
import { createApi, type KubeObject } from '@toolmgr/plugins/kit/kubernetes';

const api = createApi({ server: origin, credentials: async () => ({ tls: {} }) });
const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };
const settings = await api.get<ConfigMap>(configMaps, { namespace: 'default', name: 'settings' });
assert.deepEqual(settings?.data, { color: 'blue' });
await api[Symbol.asyncDispose]();

// endregion

// region: files
import { atomicWrite, withFileLock } from '@toolmgr/plugins/kit/files';

const path = join(folder, 'counter');
await atomicWrite(path, '0');
const add = () => withFileLock(path, () => atomicWrite(path, `${Number(readFileSync(path, 'utf8')) + 1}`));
await Promise.all([add(), add(), add()]);
assert.equal(readFileSync(path, 'utf8'), '3');
// endregion

await Promise.all([http.close(), close()]);
rmSync(folder, { recursive: true });
console.log('kit: every entry did what its page says');
