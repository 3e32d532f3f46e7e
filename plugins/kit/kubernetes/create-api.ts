import { isObject } from '@toolmgr/core';
import { type Api, ApiError, type ListOptions, type ObjectList, type WatchEvent } from './api.ts';
import type { Connection } from './connection.ts';
import { type KubeObject, keyOf, type ObjectKey, type ResourceType } from './object.ts';
import { collectionPath, isName, objectPath, queryOf } from './paths.ts';
import { createRequests, errorOf, MISSING_TYPE, type RequestsOptions, TOO_LARGE } from './requests.ts';
import { linesOf } from './watch-lines.ts';

/** Settings of an API client. */
export type ApiSettings = Omit<RequestsOptions, 'connection'>;

/** An API client that closes its connections at the end. */
export interface ClosableApi extends Api, AsyncDisposable {}

/** Objects per page; fewer when a page is too large. */
const PAGE = 250;
/** How often a list begins again because its pages expired. */
const LISTS = 3;
/** The server ends a watch after a random time between these, so that watches do not end at the same moment. */
const WATCH_SECONDS = { least: 300, more: 300 };

/** Creates a client. It connects on the first request. */
export function createApi(connection: Connection, settings: ApiSettings = {}): ClosableApi {
  const requests = createRequests({ connection, ...settings });
  const read = <T>(answer: unknown): T => answer as T;
  return {
    async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey) {
      if (!isName(key.name)) return undefined;
      try {
        const what = `read ${named(type, key)}`;
        return read<T>(await requests.json({ method: 'GET', path: objectPath(type, key), what }));
      } catch (cause) {
        if (isMissingObject(cause)) return undefined;
        throw cause;
      }
    },
    async list(type, options = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await listPages(requests.json, type, options);
        } catch (cause) {
          if (!(cause instanceof ApiError) || cause.status !== 410 || attempt >= LISTS) throw cause;
        }
      }
    },
    async apply<T extends KubeObject>(
      type: ResourceType<T>,
      object: KubeObject,
      { manager, force, subresource }: Parameters<Api['apply']>[2],
    ) {
      const key = keyOf(object);
      return read<T>(
        await requests.json({
          method: 'PATCH',
          path: objectPath(type, key, subresource) + queryOf({ fieldManager: manager, force: force || undefined }),
          body: object,
          contentType: 'application/apply-patch+yaml', // JSON is YAML
          what: `apply ${named(type, key)}`,
        }),
      );
    },
    async create<T extends KubeObject>(type: ResourceType<T>, object: KubeObject) {
      const key = keyOf(object);
      const path = collectionPath(type, type.isClusterScoped ? undefined : key.namespace);
      return read<T>(await requests.json({ method: 'POST', path, body: object, what: `create ${named(type, key)}` }));
    },
    async patch<T extends KubeObject>(
      type: ResourceType<T>,
      key: ObjectKey,
      patch: Readonly<Record<string, unknown>>,
      { subresource, manager }: NonNullable<Parameters<Api['patch']>[3]> = {},
    ) {
      return read<T>(
        await requests.json({
          method: 'PATCH',
          path: objectPath(type, key, subresource) + queryOf({ fieldManager: manager }),
          body: patch,
          contentType: 'application/merge-patch+json',
          what: `patch ${named(type, key)}`,
        }),
      );
    },
    async replace<T extends KubeObject>(type: ResourceType<T>, object: T, subresource?: 'status') {
      const key = keyOf(object);
      const path = objectPath(type, key, subresource);
      return read<T>(await requests.json({ method: 'PUT', path, body: object, what: `replace ${named(type, key)}` }));
    },
    async remove(type, key, { uid } = {}) {
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      };
      const what = `delete ${named(type, key)}`;
      try {
        await requests.json({ method: 'DELETE', path: objectPath(type, key), body, what });
      } catch (cause) {
        if (!isMissingObject(cause) && !isOtherUid(cause, uid)) throw cause;
      }
    },
    watch: <T extends KubeObject>(type: ResourceType<T>, options: Parameters<Api['watch']>[1]) =>
      watchEvents<T>(requests.stream, type, options),
    [Symbol.asyncDispose]: () => requests.close(),
  };
}

type Json = ReturnType<typeof createRequests>['json'];
type Stream = ReturnType<typeof createRequests>['stream'];

async function listPages<T extends KubeObject>(
  json: Json,
  type: ResourceType<T>,
  options: ListOptions,
): Promise<ObjectList<T>> {
  const { namespace, labelSelector, fieldSelector, signal, metadataOnly, slim } = options;
  const items: T[] = [];
  const what = `list ${type.kind}`;
  let limit = PAGE;
  for (let next: string | undefined; ; ) {
    const query = queryOf({ labelSelector, fieldSelector, limit, continue: next });
    const path = collectionPath(type, namespace) + query;
    let page: unknown;
    try {
      page = await json({
        method: 'GET',
        path,
        what,
        ...acceptOf('PartialObjectMetadataList', metadataOnly),
        ...(signal && { signal }),
      });
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.reason !== TOO_LARGE || limit === 1) throw cause;
      limit = Math.ceil(limit / 4);
      continue;
    }
    const read = page as { items?: T[]; metadata: { continue?: string; resourceVersion: string } };
    // items of a list have no kind of their own, and those of metadata have another one
    for (const item of read.items ?? []) items.push(typed(type, item, slim));
    next = read.metadata.continue || undefined;
    if (next === undefined) return { items, resourceVersion: read.metadata.resourceVersion };
  }
}

async function* watchEvents<T extends KubeObject>(
  stream: Stream,
  type: ResourceType<T>,
  options: Parameters<Api['watch']>[1],
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, signal, metadataOnly, slim, resourceVersion } = options;
  const timeoutSeconds = Math.floor(WATCH_SECONDS.least + Math.random() * WATCH_SECONDS.more);
  const query = { watch: true, allowWatchBookmarks: true, timeoutSeconds };
  const path = collectionPath(type, namespace) + queryOf({ labelSelector, fieldSelector, resourceVersion, ...query });
  const what = `watch ${type.kind}`;
  try {
    const body = await stream({
      method: 'GET',
      path,
      what,
      ...acceptOf('PartialObjectMetadata', metadataOnly),
      signal,
    });
    for await (const line of linesOf(body, what)) {
      const event = parsed<T>(line, what);
      yield event.type === 'BOOKMARK' ? event : { type: event.type, object: typed(type, event.object, slim) };
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}

function parsed<T extends KubeObject>(line: string, what: string): WatchEvent<T> {
  const event = JSON.parse(line) as { type: string; object: unknown };
  if (event.type !== 'ERROR') return event as WatchEvent<T>;
  const code = isObject(event.object) ? Number(event.object.code) : 0;
  throw errorOf({ what }, Number.isInteger(code) ? code : 0, event.object);
}

/** The parsed object itself with its type: a copy of thousands of objects costs more than the list. */
function typed<T extends KubeObject>({ apiVersion, kind }: ResourceType<T>, item: T, slim: ListOptions['slim']): T {
  const object = Object.assign(item, { apiVersion, kind });
  return slim === undefined ? object : (slim(object) as T);
}

function acceptOf(kind: string, metadataOnly = false): { readonly accept?: string } {
  return metadataOnly ? { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` } : {};
}

function isMissingObject(cause: unknown): boolean {
  return cause instanceof ApiError && cause.status === 404 && cause.reason !== MISSING_TYPE;
}

/** Whether the server does not serve the type at all. */
export function isMissingType(cause: unknown): boolean {
  return cause instanceof ApiError && cause.reason === MISSING_TYPE;
}

/** The wanted object is gone, and another one has its name. */
function isOtherUid(cause: unknown, uid: string | undefined): boolean {
  return uid !== undefined && cause instanceof ApiError && cause.status === 409 && cause.message.includes('UID');
}

function named({ kind, isClusterScoped }: ResourceType, { namespace, name }: ObjectKey): string {
  return isClusterScoped || namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
