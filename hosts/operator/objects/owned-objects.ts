import {
  ApiError,
  type Applied,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type OwnerReference,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import type { ReconcileContext } from '../machinery/controller.ts';
import { contentHash } from './content-hash.ts';
import { hasApplied, valuesAt } from './drift.ts';
import { APPLIED_ANNOTATION } from './managed-informers.ts';

/** Field manager of everything that the operator applies. */
export const MANAGER = 'toolmgr-operator';

/** What became of a wanted object. */
export type Ensured<T extends KubeObject = KubeObject> =
  | { readonly result: 'unchanged' | 'created' | 'updated'; readonly object: T }
  /** Another owner has an object of this name, or it has none. It is left alone. */
  | { readonly result: 'foreign'; readonly message: string }
  /** It is being deleted, or belongs to an earlier owner of the same name. Its deletion is an event. */
  | { readonly result: 'blocked'; readonly message: string };

/**
 * The objects of owners, by server-side apply. Writes only what differs from what was applied last, and what others changed in
 * applied fields; other fields are left alone.
 */
export interface OwnedObjects {
  /** @throws ApiError */
  ensure<T extends KubeObject>(owner: KubeObject, wanted: Wanted<T>, context: ReconcileContext): Promise<Ensured<T>>;
  /** Deletes an object if this owner controls it. @throws ApiError */
  remove(owner: KubeObject, type: ResourceType, key: ObjectKey, context: ReconcileContext): Promise<boolean>;
  /** Forgets an owner that is gone. */
  forget(kind: string, key: ObjectKey): void;
}

/** An object to apply, without owner reference and hash. */
export interface Wanted<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  readonly object: Applied<T>;
  /** The cache of the type has only metadata: other parts are read from the API when the resource version changed. */
  readonly metadataOnly?: boolean;
}

interface Known {
  /** Hash of what was applied, and the values that the API server made of it when they differ in form. */
  settled?: { readonly hash: string; readonly values: string };
  /** Resource version whose content was compared; for types with metadata only. */
  compared?: string;
  /** What the last write returned, until the cache has it. */
  written?: KubeObject;
  /** uid of a deleted object, until the cache has no more of it. */
  removed?: string;
}

/** Objects of owners; one per controller. */
export function createOwnedObjects(): OwnedObjects {
  const owners = new Map<string, Map<string, Known>>();
  const knownOf = (owner: KubeObject, type: ResourceType, key: ObjectKey): Known => {
    const at = ownerKey(owner.kind, keyOf(owner));
    const objects = owners.get(at) ?? new Map<string, Known>();
    owners.set(at, objects);
    const name = `${type.kind}/${key.name}`;
    const known = objects.get(name) ?? {};
    objects.set(name, known);
    return known;
  };

  return {
    async ensure<T extends KubeObject>(owner: KubeObject, wanted: Wanted<T>, context: ReconcileContext) {
      const { type } = wanted;
      const key = keyOf(wanted.object);
      const known = knownOf(owner, type, key);
      const { body, hash } = bodyOf(owner, wanted.object);
      const write = async (result: 'created' | 'updated', uid?: string): Promise<Ensured<T>> => {
        const sent = uid === undefined ? body : { ...body, metadata: { ...body.metadata, uid } };
        const options = { manager: MANAGER, force: result === 'updated' };
        const object = await context.api.apply(type, sent, options);
        known.written = object;
        known.compared = object.metadata.resourceVersion;
        known.settled = hasApplied(object, body) ? undefined : { hash, values: contentHash(valuesAt(object, body)) };
        return { result, object };
      };
      const cached = latest(context.caches.of(type).get(key), known);
      const live = cached ?? (await context.api.get(type, key));
      if (live === undefined) return write('created').catch((cause) => foreignWhenTaken(cause, type, key));
      const refused = refusalOf(owner, type, live);
      if (refused !== undefined) return refused;
      const unchanged = { result: 'unchanged', object: live } as const;
      const { uid, resourceVersion } = live.metadata;
      if (live.metadata.annotations?.[APPLIED_ANNOTATION] !== hash) return write('updated', uid);
      const isSettled = (object: KubeObject): boolean =>
        hasApplied(object, body) ||
        (known.settled?.hash === hash && known.settled.values === contentHash(valuesAt(object, body)));
      if (!wanted.metadataOnly || cached === undefined) return isSettled(live) ? unchanged : write('updated', uid);
      if (known.compared === resourceVersion) return unchanged;
      const full = await context.api.get(type, key);
      if (full === undefined) return { result: 'blocked', message: `${type.kind} ${key.name} is being deleted` };
      if (full.metadata.uid !== uid || !isSettled(full)) return write('updated', uid);
      known.compared = full.metadata.resourceVersion;
      return { result: 'unchanged', object: full };
    },

    async remove(owner, type, key, context) {
      const known = owners.get(ownerKey(owner.kind, keyOf(owner)))?.get(`${type.kind}/${key.name}`);
      const live =
        known === undefined ? context.caches.of(type).get(key) : latest(context.caches.of(type).get(key), known);
      if (live === undefined || refusalOf(owner, type, live) !== undefined) return false;
      const { uid } = live.metadata;
      if (uid === undefined || known?.removed === uid) return false;
      await context.api.remove(type, key, { uid });
      const after = knownOf(owner, type, key);
      after.removed = uid;
      after.written = undefined;
      return true;
    },

    forget: (kind, key) => void owners.delete(ownerKey(kind, key)),
  };
}

/** The reference to an owner that controls an object. */
export function ownerReference({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The owner that controls an object. */
export function controllerOf({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller === true);
}

function bodyOf<T extends KubeObject>(owner: KubeObject, object: Applied<T>): { body: Applied<T>; hash: string } {
  const metadata = { ...object.metadata, ownerReferences: [ownerReference(owner)] };
  const hash = contentHash({ ...object, metadata });
  const annotations = { ...metadata.annotations, [APPLIED_ANNOTATION]: hash };
  return { body: { ...object, metadata: { ...metadata, annotations } }, hash };
}

/** The newer one of the cached and the written object; `undefined` when the cache has none, which may be its delay. */
function latest<T extends KubeObject>(cached: T | undefined, known: Known): T | undefined {
  const { written, removed } = known;
  if (cached === undefined || (removed !== undefined && cached.metadata.uid === removed)) return undefined;
  if (written !== undefined && versionOf(cached) < versionOf(written)) return written as T;
  known.written = undefined;
  return cached;
}

function versionOf({ metadata: { resourceVersion = '0' } }: KubeObject): bigint {
  return /^\d{1,20}$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

/** Why an object is not the owner's to use now; `undefined` when it is. */
export function refusalOf(
  owner: KubeObject,
  { kind }: ResourceType,
  live: KubeObject,
): Extract<Ensured, { result: 'foreign' | 'blocked' }> | undefined {
  const { name, deletionTimestamp } = live.metadata;
  const controller = controllerOf(live);
  const isSame = controller?.kind === owner.kind && controller.name === owner.metadata.name;
  if (!isSame) return foreign(kind, name, controller);
  if (deletionTimestamp !== undefined) return { result: 'blocked', message: `${kind} ${name} is being deleted` };
  if (controller.uid === owner.metadata.uid) return undefined;
  return { result: 'blocked', message: `${kind} ${name} of an earlier ${owner.kind} of this name is not deleted yet` };
}

function foreign(kind: string, name: string, controller: OwnerReference | undefined): Ensured & { result: 'foreign' } {
  const whose = controller === undefined ? 'has no owner' : `belongs to ${controller.kind} ${controller.name}`;
  return {
    result: 'foreign',
    message: `${kind} ${name} exists and ${whose}; it is left alone. Delete or rename it, or rename this object.`,
  };
}

/** Another object of this name was created since the cache was read. */
function foreignWhenTaken(
  cause: unknown,
  { kind }: ResourceType,
  { name }: ObjectKey,
): Ensured & { result: 'foreign' } {
  if (cause instanceof ApiError && cause.status === 409) return foreign(kind, name, undefined);
  throw cause;
}

function ownerKey(kind: string, key: ObjectKey): string {
  return `${kind}/${keyText(key)}`;
}
