import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  type BackendSource,
  backOffMs,
  explainCause,
  type Log,
  type PushBackends,
  present,
} from '@toolmgr/core';
import {
  type Api,
  AUTH_CONFIG_REF,
  BACKENDS_KEY,
  type BackendsDocument,
  type DocumentBackend,
  type ObjectKey,
} from '@toolmgr/plugins/kit/kubernetes';
import type { CaFiles } from './ca-files.ts';
import { type ConfigMap, followConfigMap } from './follow-config-map.ts';
import type { PreparedCredentials, StrategyUse } from './prepared-credentials.ts';
import { readDocument } from './read-document.ts';
import { readSecrets } from './read-secrets.ts';

/** What a source knows at the moment. */
export type SourceState = ReturnType<NonNullable<BackendSource['state']>>;

/** What {@link discover} needs. */
export interface DiscoverOptions {
  readonly api: Pick<Api, 'get' | 'list' | 'watch'>;
  /** The config map with the document. */
  readonly key: ObjectKey;
  readonly credentials: PreparedCredentials;
  /** For backends whose entry has no strategy. */
  readonly byDefault: () => StrategyUse;
  readonly caFiles: CaFiles;
  readonly log: Log;
  readonly push: PushBackends;
  /** Called after each pushed document. */
  took(state: SourceState): void;
  readonly signal: AbortSignal;
}

/**
 * Pushes the backends of the document, now and after each change, until `signal` aborts.
 *
 * A malformed document is logged, and the last one stays; so it does while the API is away or the config map is deleted. While
 * credentials cannot be prepared, the secrets are read again with back-off.
 */
export async function discover(options: DiscoverOptions): Promise<void> {
  const { key, log, signal } = options;
  const { name: configMap } = key;
  const inbox = latestOnly<string>(signal);
  const seen = (object: ConfigMap | undefined): void => {
    const text = object?.data?.[BACKENDS_KEY];
    if (text !== undefined) return inbox.put(text);
    log.warn('there are no discovered backends to read; the last ones are kept', {
      configMap,
      cause: object === undefined ? 'it does not exist' : `it has no key ${BACKENDS_KEY}`,
    });
  };
  const following = followConfigMap({ ...options, seen });
  let text = '';
  let failures = 0;
  while (!signal.aborted) {
    const next = await inbox.next(failures === 0 ? undefined : backOffMs(failures, RETRY));
    if (signal.aborted) break;
    if (next === text && failures === 0) continue;
    if (next !== undefined && next !== text) failures = 0;
    text = next ?? text;
    if (text === '') continue; // no document has arrived yet
    const isComplete = await apply(text, options);
    failures = isComplete ? 0 : failures + 1;
  }
  await following;
}

/** Resolves with whether all went well; `false`: worth trying again. */
async function apply(text: string, options: DiscoverOptions): Promise<boolean> {
  const { api, key, credentials, caFiles, log, push, took, byDefault, signal } = options;
  let document: BackendsDocument;
  try {
    document = readDocument(text);
  } catch (cause) {
    const fields = { configMap: key.name, cause: explainCause(cause) };
    log.error('the backends document is not used, the last one stays', fields);
    return true;
  }
  try {
    const values = await readSecrets(api, key.namespace, document.secrets);
    await credentials.take(document.backends, values, byDefault());
    const snapshot = await Promise.all(document.backends.map((one) => backendFrom(one, credentials, caFiles)));
    if (signal.aborted) return true;
    push(snapshot);
    took({ version: document.checksum });
    await caFiles.keepOnly(new Set(snapshot.flatMap(({ caBundlePath }) => caBundlePath ?? [])));
    log.info('discovered backends', { count: snapshot.length, checksum: document.checksum });
    return credentials.failed.length === 0;
  } catch (cause) {
    log.error('the backends document cannot be applied yet, the last one stays', {
      configMap: key.name,
      cause: explainCause(cause),
    });
    return false;
  }
}

async function backendFrom(
  { name, url, transport, type, addresses, metadata, caBundle, authConfigRef }: DocumentBackend,
  credentials: PreparedCredentials,
  caFiles: CaFiles,
): Promise<Backend> {
  return {
    name,
    url,
    transport,
    ...present({ type, addresses }),
    ...(metadata === undefined && authConfigRef === undefined
      ? {}
      : { metadata: { ...metadata, ...(authConfigRef === undefined ? {} : { [AUTH_CONFIG_REF]: authConfigRef }) } }),
    ...(caBundle === undefined ? {} : { caBundlePath: await caFiles.pathOf(caBundle) }),
    credentials: credentials.identityOf(name),
  };
}

/** Keeps the last value that was put. `next` resolves with it, or with `undefined` after `ms` or on abort. */
function latestOnly<T>(signal: AbortSignal) {
  let waiting: T | undefined;
  let wake = (): void => {};
  return {
    put(value: T): void {
      waiting = value;
      wake();
    },
    async next(ms: number | undefined): Promise<T | undefined> {
      if (waiting === undefined) {
        const arrived = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const timer = new AbortController();
        const until = AbortSignal.any([signal, timer.signal]);
        const late = delay(ms ?? FOREVER_MS, undefined, { signal: until, ref: false }).catch(() => {});
        await Promise.race([arrived, late]);
        timer.abort();
      }
      const value = waiting;
      waiting = undefined;
      return value;
    },
  };
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };
const FOREVER_MS = 3_600_000;
