import { randomBytes } from 'node:crypto';
import { ApiError, type Applied, type KubeObject, keyOf } from '@toolmgr/plugins/kit/kubernetes';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { ReconcileContext } from '../../machinery/controller.ts';
import { type Secret, secrets } from '../../objects/built-in-kinds.ts';
import { type Ensured, ownerReference, refusalOf } from '../../objects/owned-objects.ts';
import type { SecretValue } from '../../resolve/related.ts';
import { type Contents, hashesOf } from '../contents.ts';
import { STATE_KEY } from './pod-template.ts';

/** Secret bytes of a state key; the Secret has them as base64 text, which is the value of the variable of the pods. */
const RANDOM_BYTES = 32;
const TEXT_BYTES = Math.ceil(RANDOM_BYTES / 3) * 4;

/** What became of the Secret with the state key. */
export type EnsuredStateKey =
  | { readonly result: 'created' | 'unchanged'; readonly object: KubeObject; readonly hash: string }
  | Extract<Ensured, { readonly message: string }>
  /** The Secret has no usable key, or no key could be made. */
  | { readonly result: 'invalid' | 'ungenerated'; readonly message: string };

/**
 * Creates the Secret with the state key when there is none. An existing one is never changed: pods that use its key may run.
 * @throws ApiError
 */
export async function ensureStateKey(
  server: VirtualMcpServer,
  wanted: Applied<KubeObject>,
  { api, caches }: Pick<ReconcileContext, 'api' | 'caches'>,
  contents: Contents,
  random: (size: number) => Buffer = randomBytes,
): Promise<EnsuredStateKey> {
  const key = keyOf(wanted);
  const check = async (live: Secret, isCached: boolean): Promise<EnsuredStateKey> => {
    const refused = refusalOf(server, secrets, live);
    if (refused !== undefined) return refused;
    const values = isCached ? await contents.secret(key) : hashesOf(live);
    if (values === undefined) return { result: 'blocked', message: `Secret ${key.name} is being deleted` };
    const problem = problemOf(values[STATE_KEY]);
    if (problem === undefined) return { result: 'unchanged', object: live, hash: values[STATE_KEY]?.hash ?? '' };
    return { result: 'invalid', message: `Secret ${key.name}: ${problem}. Delete it, then a new one is created.` };
  };
  const cached = caches.of(secrets).get(key);
  if (cached !== undefined) return check(cached, true);
  // the cache may be late
  const live = await api.get(secrets, key);
  if (live !== undefined) return check(live, false);
  let text: string;
  try {
    text = random(RANDOM_BYTES).toString('base64');
  } catch (cause) {
    return { result: 'ungenerated', message: `no random bytes for Secret ${key.name}: ${(cause as Error).message}` };
  }
  const data = { [STATE_KEY]: Buffer.from(text).toString('base64') };
  const metadata = { ...wanted.metadata, ownerReferences: [ownerReference(server)] };
  try {
    const object = await api.create(secrets, { ...wanted, metadata, data });
    return { result: 'created', object, hash: hashesOf(object)[STATE_KEY]?.hash ?? '' };
  } catch (cause) {
    // another operator was faster
    const other = cause instanceof ApiError && cause.status === 409 ? await api.get(secrets, key) : undefined;
    if (other === undefined) throw cause;
    return check(other, false);
  }
}

function problemOf(value: SecretValue | undefined): string | undefined {
  const wanted = `expected the key ${STATE_KEY} with ${RANDOM_BYTES} random bytes as base64, ${TEXT_BYTES} characters`;
  if (value === undefined) return `${wanted}; there is no such key`;
  return value.bytes === TEXT_BYTES ? undefined : `${wanted}; got ${value.bytes}`;
}
