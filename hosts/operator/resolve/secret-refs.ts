import { isObject } from '@toolmgr/core';

/** A reference `{name, key}` to a secret, with its path. */
interface SecretRef {
  readonly path: string;
  readonly name: string;
  readonly key: string;
}

/** References `{name, key}` below keys that end with `Ref` or `Refs`. */
export function secretRefs(value: unknown, path: string, isRef = false): SecretRef[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => secretRefs(each, `${path}[${index}]`, isRef));
  if (!isObject(value)) return [];
  const { name, key } = value;
  if (isRef && typeof name === 'string' && typeof key === 'string') return [{ path, name, key }];
  return Object.entries(value).flatMap(([member, each]) =>
    secretRefs(each, `${path}.${member}`, /Refs?$/.test(member)),
  );
}
