import { ApiError, type KubeObject, keyOf, type ObjectKey, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { ReconcileContext } from '../machinery/controller.ts';
import { MANAGER, noteWritten } from './write-status.ts';

const ATTEMPTS = 5; // against writers of the same object

/**
 * Adds a finalizer to an object, or removes it; others stay. Reads the object again when another writer was faster.
 * @returns the object as it is now; `undefined` when it is gone
 * @throws ApiError
 */
export async function setFinalizer<T extends KubeObject>(
  { api }: Pick<ReconcileContext, 'api'>,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
  isWanted: boolean,
): Promise<T | undefined> {
  const key = keyOf(object);
  let current: T | undefined = object;
  for (let attempt = 1; ; attempt++) {
    const { finalizers = [], resourceVersion } = current.metadata;
    if (finalizers.includes(finalizer) === isWanted) return current;
    const others = finalizers.filter((each) => each !== finalizer);
    const wanted = isWanted ? [...others, finalizer] : others;
    try {
      const metadata = { resourceVersion, finalizers: wanted };
      const written = await api.patch(type, key, { metadata }, { manager: MANAGER });
      noteWritten(api, type, written);
      return written;
    } catch (cause) {
      if (isStatus(cause, 404)) return undefined;
      if (!isStatus(cause, 409) || attempt === ATTEMPTS) throw cause;
    }
    current = await readSame(api, type, key, object.metadata.uid);
    if (current === undefined) return undefined;
  }
}

/** The object, unless it is gone or another one has its name now. */
async function readSame<T extends KubeObject>(
  api: ReconcileContext['api'],
  type: ResourceType<T>,
  key: ObjectKey,
  uid: string | undefined,
): Promise<T | undefined> {
  const found = await api.get(type, key);
  return found?.metadata.uid === uid ? found : undefined;
}

function isStatus(cause: unknown, status: number): boolean {
  return cause instanceof ApiError && cause.status === status;
}
