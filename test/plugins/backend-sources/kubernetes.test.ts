import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AuthContext, Authorizer, Backend, BackendRequest, BackendSource } from '@toolmgr/core';
import {
  type Api,
  ApiError,
  type BackendsDocument,
  type KubeObject,
  type WatchEvent,
  type WatchOptions,
} from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CaFiles } from '../../../plugins/backend-sources/kubernetes/ca-files.ts';
import { discover } from '../../../plugins/backend-sources/kubernetes/discover.ts';
import { PreparedCredentials } from '../../../plugins/backend-sources/kubernetes/prepared-credentials.ts';
import { MAX_DOCUMENT_BYTES, readDocument } from '../../../plugins/backend-sources/kubernetes/read-document.ts';
import { readSecrets } from '../../../plugins/backend-sources/kubernetes/read-secrets.ts';
import { createForwardHeaders } from '../../../plugins/outgoing-auth/forward-headers/strategy.ts';
import { createHeaderInjection } from '../../../plugins/outgoing-auth/header-injection/strategy.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { until } from '../../support/until.ts';

type Backends = BackendsDocument['backends'];

/** An API server in memory with one config map and secrets. */
function fakeCluster() {
  const secrets = new Map<string, Record<string, string> | Error>();
  const reads: string[] = [];
  let map: KubeObject | undefined;
  let version = 1;
  let emit = (_: WatchEvent<KubeObject>): void => {};
  const api = {
    async get(_type: unknown, { name }: { readonly name: string }) {
      reads.push(name);
      const found = secrets.get(name);
      if (found instanceof Error) throw found;
      if (found === undefined) return undefined;
      const data = Object.fromEntries(
        Object.entries(found).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
    },
    list: async () => ({ items: map === undefined ? [] : [map], resourceVersion: String(version) }),
    async *watch(_type: unknown, { signal, resourceVersion }: Pick<WatchOptions, 'signal' | 'resourceVersion'>) {
      const isNewer = Number(resourceVersion) < version && map !== undefined;
      const waiting: WatchEvent<KubeObject>[] = isNewer && map ? [{ type: 'MODIFIED', object: map }] : [];
      let wake = (): void => {};
      emit = (event) => {
        waiting.push(event);
        wake();
      };
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        yield* waiting.splice(0);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0) resolve();
        });
      }
    },
  } as unknown as Pick<Api, 'get' | 'list' | 'watch'>;
  const put = (text: string): void => {
    version += 1;
    map = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tools', resourceVersion: String(version) } },
      ...{ data: { 'backends.json': text } },
    } as KubeObject;
    emit({ type: 'MODIFIED', object: map });
  };
  return {
    api,
    secrets,
    reads,
    publish: (checksum: string, backends: Backends, names: BackendsDocument['secrets'] = {}) =>
      put(JSON.stringify({ checksum, backends, secrets: names })),
    remove: () => map !== undefined && emit({ type: 'DELETED', object: map }),
  };
}

function discovering(cluster = fakeCluster()) {
  const core = pluginCore({});
  const credentials = new PreparedCredentials(core.slots, core.log);
  const caFiles = new CaFiles();
  const stop = new AbortController();
  const pushed: (readonly Backend[])[] = [];
  const states: ReturnType<NonNullable<BackendSource['state']>>[] = [];
  let prepared = 0;
  const { slots } = core;
  slots.secretSources.register('kubernetes', credentials.secrets);
  const injection = createHeaderInjection(slots);
  slots.authStrategies.register('header_injection', {
    prepare(options, where) {
      prepared += 1;
      return injection.prepare(options, where);
    },
  });
  slots.authStrategies.register('forward_headers', createForwardHeaders(slots));
  slots.authStrategies.register('unauthenticated', { prepare: async () => ({ apply: () => {} }) });
  slots.authStrategies.register('of_callers', { prepare: async () => ({ apply: () => {}, perCaller: true }) });
  const running = discover({
    ...{ api: cluster.api, credentials, caFiles, log: core.log, signal: stop.signal },
    key: { namespace: 'team', name: 'tools' },
    byDefault: () => ({ type: 'unauthenticated' }),
    push: (snapshot) => pushed.push(snapshot),
    took: (state) => states.push(state),
  });
  onTestFinished(async () => {
    stop.abort();
    await running;
    await caFiles.close();
  });
  const headersTo = async (name: string): Promise<object> => {
    const backend = { name, transport: 'streamable-http', url: 'http://far/mcp' } as const;
    const outbound: BackendRequest = { backend, method: 'POST', url: backend.url, headers: {} };
    await (credentials.forBackend(name) as Authorizer).apply(outbound, {} as AuthContext);
    return outbound.headers;
  };
  const last = (): readonly Backend[] => pushed.at(-1) ?? [];
  return { cluster, core, credentials, caFiles, pushed, states, last, headersTo, prepared: () => prepared, stop };
}

const far = { name: 'far', url: 'http://far/mcp', transport: 'streamable-http' } as const;
const injected = (headerValueEnv: string) =>
  ({ type: 'header_injection', options: { headerName: 'X-Key', headerValueEnv } }) as const;
const NAMES = { KEY: { name: 'far-key', key: 'value' } };

describe('discovered backends', () => {
  it('have the strategy, the headers and the secrets of the document', async () => {
    const { cluster, headersTo, last, states, credentials } = discovering();
    cluster.secrets.set('far-key', { value: 'one' });
    cluster.publish(
      'first',
      [
        { ...far, auth: injected('KEY'), headers: { 'X-Plain': 'p' }, secretHeaders: { 'X-Secret': 'KEY' } },
        { ...far, name: 'plain' },
        { ...far, name: 'callers', auth: { type: 'of_callers' } },
      ],
      NAMES,
    );
    await until(() => last().length === 3);
    expect(await headersTo('far')).toEqual({ 'x-key': 'one', 'x-plain': 'p', 'x-secret': 'one' });
    expect(await headersTo('plain')).toEqual({});
    expect(cluster.reads).toEqual(['far-key']);
    expect(states).toEqual([{ version: 'first' }]);
    expect(['far', 'plain', 'callers'].map((name) => credentials.forBackend(name))).toMatchObject([
      { strategy: 'header_injection', perCaller: false },
      { strategy: 'unauthenticated', perCaller: false },
      { strategy: 'of_callers', perCaller: true },
    ]);
  });

  it('get a changed secret without another description, and are prepared again only then', async () => {
    const { cluster, headersTo, pushed, last, prepared } = discovering();
    cluster.secrets.set('far-key', { value: 'one' });
    const backends: Backends = [{ ...far, auth: injected('KEY') }];
    cluster.publish('first', backends, NAMES);
    await until(() => pushed.length === 1);
    cluster.publish('second', [...backends, { ...far, name: 'more' }], NAMES);
    await until(() => pushed.length === 2);
    expect(prepared()).toBe(1);
    cluster.secrets.set('far-key', { value: 'two' });
    cluster.publish('third', backends, NAMES);
    await until(() => pushed.length === 3);
    expect(await headersTo('far')).toEqual({ 'x-key': 'two' });
    expect(pushed[2]?.[0]).toEqual(pushed[0]?.[0]);
    expect(prepared()).toBe(2);
    cluster.publish('fourth', [{ ...far, auth: { type: 'of_callers' } }]);
    await until(() => pushed.length === 4);
    expect(last()[0]).not.toEqual(pushed[0]?.[0]); // another way to authenticate: sessions are opened again
  });

  it('fail while their secret is missing, and are prepared when it is there', async () => {
    const { cluster, core, headersTo, last } = discovering();
    cluster.publish(
      'first',
      [
        { ...far, auth: injected('KEY') },
        { ...far, name: 'plain' },
      ],
      NAMES,
    );
    await until(() => last().length === 2);
    const before = last();
    await expect(headersTo('far')).rejects.toThrow(/KEY|the secret far-key does not exist/);
    expect(await headersTo('plain')).toEqual({});
    cluster.secrets.set('far-key', { value: 'one' });
    await until(async () => (await headersTo('far').catch(() => undefined)) !== undefined);
    expect(last()[0]).not.toEqual(before[0]); // so that it is connected at once
    expect(last()[1]).toEqual(before[1]);
    expect(JSON.stringify(core.lines)).not.toContain('one"');
  });

  it('stay as they are while the API does not answer, or when the config map is deleted', async () => {
    const { cluster, core, headersTo, pushed } = discovering();
    cluster.secrets.set('far-key', { value: 'one' });
    cluster.publish('first', [{ ...far, auth: injected('KEY') }], NAMES);
    await until(() => pushed.length === 1);
    cluster.secrets.set('far-key', new ApiError(0, 'Unreachable', 'connection refused'));
    cluster.publish('second', [{ ...far, auth: injected('KEY') }], NAMES);
    await until(() => core.lines.some(({ message }) => message.includes('cannot be applied yet')));
    expect(await headersTo('far')).toEqual({ 'x-key': 'one' });
    cluster.secrets.set('far-key', { value: 'two' });
    await until(async () => JSON.stringify(await headersTo('far')).includes('two'));
    cluster.remove();
    await until(() => core.lines.some(({ fields }) => fields.cause === 'it does not exist'));
    expect(await headersTo('far')).toEqual({ 'x-key': 'two' });
  });

  it('trust the CA of the document: a private file, deleted with the backend', async () => {
    const { cluster, last, caFiles } = discovering();
    const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    cluster.publish('first', [{ ...far, type: 'entry', caBundle: pem }]);
    await until(() => last().length === 1);
    const path = last()[0]?.caBundlePath ?? '';
    expect(await readFile(path, 'utf8')).toBe(pem);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    cluster.publish('second', [far]);
    await until(async () => (await stat(path).catch(() => undefined)) === undefined);
    await caFiles.close();
    await expect(stat(dirname(path))).rejects.toThrow('ENOENT');
  });
});

describe('a backends document', () => {
  const text = (backends: unknown[]): string => JSON.stringify({ checksum: 'x', backends, secrets: {} });

  it.each([
    ['too large', 'x'.repeat(MAX_DOCUMENT_BYTES + 1), 'larger than'],
    ['no JSON', '{', 'no valid JSON'],
    ['two backends of one name', text([far, far]), 'backends[1].name: far is a duplicate'],
    ['a URL with a password', text([{ ...far, url: 'http://a:b@far/mcp' }]), 'backends[0].url: expected'],
    ['a transport that is a program', text([{ ...far, transport: 'stdio' }]), 'backends[0].transport'],
    ['an unknown key', text([{ ...far, command: { file: 'sh' } }]), 'unknown key "command"'],
  ])('is refused: %s', (_, given, reason) => {
    expect(() => readDocument(given)).toThrow(reason);
  });
});

describe('secrets of a document', () => {
  it('are read once each, and at most 64 KiB of a value', async () => {
    const cluster = fakeCluster();
    cluster.secrets.set('shared', { a: 'one', large: 'x'.repeat(65_537) });
    cluster.secrets.set('refused', new ApiError(403, 'Forbidden', 'no'));
    const values = await readSecrets(cluster.api, 'team', {
      A: { name: 'shared', key: 'a' },
      LARGE: { name: 'shared', key: 'large' },
      PROTO: { name: 'shared', key: '__proto__' },
      REFUSED: { name: 'refused', key: 'a' },
      GONE: { name: 'gone', key: 'a' },
    });
    expect(Object.fromEntries(values)).toEqual({
      A: { value: 'one' },
      LARGE: { missing: 'large of the secret shared is larger than 65536 bytes' },
      PROTO: { missing: 'the secret shared has no key __proto__, or it is empty' },
      REFUSED: { missing: 'the secret refused may not be read by the service account of the pod' },
      GONE: { missing: 'the secret gone does not exist' },
    });
    expect(cluster.reads.toSorted()).toEqual(['gone', 'refused', 'shared']);
  });
});
