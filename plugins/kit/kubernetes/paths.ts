import { ApiError } from './api.ts';
import type { ObjectKey, ResourceType } from './object.ts';

/** Path of a collection; no namespace means all namespaces. */
export function collectionPath({ apiVersion, plural, isClusterScoped }: ResourceType, namespace?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const inside = isClusterScoped || namespace === undefined ? '' : `/namespaces/${segment(namespace)}`;
  return `${root}${inside}/${plural}`;
}

/** Path of one object. @throws ApiError 422 when the name or the namespace is no segment of a path */
export function objectPath(type: ResourceType, { namespace, name }: ObjectKey, subresource?: 'status'): string {
  const collection = collectionPath(type, type.isClusterScoped ? undefined : namespace);
  return `${collection}/${segment(name)}${subresource === undefined ? '' : `/${subresource}`}`;
}

/**
 * Whether the text can be the name of an object. An empty name would address the collection, and the server decodes `%2F`
 * before it looks at the path. Source: Kubernetes, path segment names.
 */
export function isName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);
}

function segment(text: string): string {
  if (!isName(text)) throw new ApiError(422, 'Invalid', `${JSON.stringify(text)} is not a name of an object`);
  return encodeURIComponent(text);
}

/** A query of the parameters that have a value. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}
