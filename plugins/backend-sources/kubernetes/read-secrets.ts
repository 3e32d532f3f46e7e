import {
  type Api,
  ApiError,
  type BackendsDocument,
  type KubeObject,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';

/** Values of the secrets of a document by their names in it, or why a value is missing. */
export type SecretValues = ReadonlyMap<string, SecretValue>;

/** One value, or a sentence without any value of a secret. */
export type SecretValue = { readonly value: string } | { readonly missing: string };

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const SECRETS: ResourceType<SecretObject> = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };

/** Largest value; header values and client secrets are much smaller. */
const MAX_VALUE_BYTES = 65_536;
/** Requests at the same time. */
const PARALLEL = 8;

/**
 * Reads the secrets that a document names, each once. A secret that is absent or refused has no value.
 * @throws ApiError when the API does not answer, so that the caller tries again
 */
export async function readSecrets(
  api: Pick<Api, 'get'>,
  namespace: string,
  wanted: BackendsDocument['secrets'],
): Promise<SecretValues> {
  const names = [...new Set(Object.values(wanted).map(({ name }) => name))];
  const found = new Map<string, SecretObject | string>();
  const next = names.values();
  const readAll = async (): Promise<void> => {
    for (const name of next) found.set(name, await readOne(api, namespace, name));
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, names.length) }, readAll));
  return new Map(
    Object.entries(wanted).map(([id, { name, key }]) => [
      id,
      secretValue(found.get(name) ?? 'was not read', name, key),
    ]),
  );
}

async function readOne(api: Pick<Api, 'get'>, namespace: string, name: string): Promise<SecretObject | string> {
  try {
    return (await api.get(SECRETS, { namespace, name })) ?? 'does not exist';
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 403) return 'may not be read by the service account of the pod';
    throw cause;
  }
}

function secretValue(secret: SecretObject | string, name: string, key: string): SecretValue {
  if (typeof secret === 'string') return { missing: `the secret ${name} ${secret}` };
  const encoded = Object.hasOwn(secret.data ?? {}, key) ? secret.data?.[key] : undefined;
  if (encoded === undefined || encoded === '')
    return { missing: `the secret ${name} has no key ${key}, or it is empty` };
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length <= MAX_VALUE_BYTES) return { value: bytes.toString('utf8') };
  return { missing: `${key} of the secret ${name} is larger than ${MAX_VALUE_BYTES} bytes` };
}
