import { explainIssues } from '@toolmgr/core';
import type { Condition, KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import type { z } from 'zod';
import { type KindDefinition, type ObjectOf, typeOfKind } from '../kinds/kind.ts';
import type { Related, SecretValue } from './related.ts';

/** A key of a secret. */
export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

/** An object of a kind with its spec, checked and with its defaults. */
export type Found<K extends KindDefinition> =
  | { readonly is: 'valid'; readonly object: ObjectOf<K>; readonly spec: z.output<K['spec']> }
  | { readonly is: 'missing' | 'invalid'; readonly message: string };

/** Lookups with the texts of their failures. Every name that was looked at is kept. */
export interface Lookups {
  /** `by`: the field that names the object, for the message. */
  find<K extends KindDefinition>(kind: K, name: string, by: string): Found<K>;
  /** What is known of a value, or why it cannot be used. */
  secret(key: SecretKey, by: string): Promise<SecretValue | { readonly problem: string }>;
  configMap(key: SecretKey, by: string): Promise<ConfigText>;
  references(): { readonly secrets: readonly string[]; readonly configMaps: readonly string[] };
}

/** The text of one key of a config map, or why there is none. */
export type ConfigText = { readonly text: string } | { readonly problem: string };

/** Adds messages and records to lookups. */
export function createLookups(related: Related): Lookups {
  const secrets = new Map<string, ReturnType<Related['secret']>>();
  const configMaps = new Map<string, ReturnType<Related['configMap']>>();
  return {
    find(kind, name, by) {
      const object = related.get(typeOfKind(kind), name);
      if (object === undefined) return { is: 'missing', message: `${by}: there is no ${kind.kind} ${name}` };
      return check(kind, object, by);
    },
    async secret({ name, key }, by) {
      const reading = secrets.get(name) ?? related.secret(name);
      secrets.set(name, reading);
      const found = await reading;
      if (found === undefined) return { problem: `${by}: there is no secret ${name}` };
      const value = Object.hasOwn(found, key) ? found[key] : undefined;
      if (value === undefined) return { problem: `${by}: the secret ${name} has no key ${key}` };
      return value.bytes === 0 ? { problem: `${by}: the key ${key} of the secret ${name} is empty` } : value;
    },
    async configMap({ name, key }, by) {
      const reading = configMaps.get(name) ?? related.configMap(name);
      configMaps.set(name, reading);
      const found = await reading;
      if (found === undefined) return { problem: `${by}: there is no config map ${name}` };
      const text = Object.hasOwn(found, key) ? found[key] : undefined;
      return text === undefined ? { problem: `${by}: the config map ${name} has no key ${key}` } : { text };
    },
    references: () => ({ secrets: [...secrets.keys()].sort(), configMaps: [...configMaps.keys()].sort() }),
  };
}

function check<K extends KindDefinition>(kind: K, object: ObjectOf<K>, by: string): Found<K> {
  const at = `${by}: ${kind.kind} ${object.metadata.name}`;
  const read = kind.spec.safeParse(object.spec ?? {}); // the API server adds an absent spec, a file does not
  if (!read.success) {
    return { is: 'invalid', message: `${at}: ${explainIssues('spec', kind.spec, read.error).join('; ')}` };
  }
  const refused = refusedByController(object);
  if (refused !== undefined) return { is: 'invalid', message: `${at}: ${refused}` };
  return { is: 'valid', object, spec: read.data as z.output<K['spec']> };
}

/** What the controller of the kind found wrong with this generation; `undefined` when it found nothing, or not yet. */
function refusedByController(object: KubeObject): string | undefined {
  const { status } = object as KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
  const valid = status?.conditions?.find(({ type }) => type === 'Valid');
  if (valid?.status !== 'False') return undefined;
  const isOld = valid.observedGeneration !== undefined && valid.observedGeneration !== object.metadata.generation;
  return isOld ? undefined : valid.message;
}
