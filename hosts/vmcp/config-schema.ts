import { isObject } from '@toolmgr/core';
import { z } from 'zod';
import { CALLERS } from './choices.ts';
import { HOST_KEYS, hostKeys } from './host-keys.ts';
import { hasKey, type KeyedSection, type Section } from './sections.ts';

/**
 * The vmcp file: the contract's `spec.config` at top level, with the sections of plugins, and keys of our own.
 *
 * Shape: durations become whole milliseconds; sections of plugins stay as written.
 * Source: vmcp spec §2 `spec.config`.
 */
export function configSchema(sections: readonly Section[]): ReturnType<typeof buildSchema> {
  const key = JSON.stringify(sections.map(({ contractKey, isRequired, choice }) => [contractKey, isRequired, choice]));
  const known = built.get(key);
  if (known !== undefined) return known;
  if (built.size >= MAX_BUILT) built.clear();
  const schema = buildSchema(sections);
  built.set(key, schema);
  return schema;
}

/** By the sections: the operator reads many files, and building a schema takes longer than a check with it. */
const built = new Map<string, ReturnType<typeof buildSchema>>();
const MAX_BUILT = 16;

function buildSchema(sections: readonly Section[]) {
  const isPlain = ([, { schema }]: (typeof hostKeys)[number]): boolean => typeof schema !== 'function';
  const schemas = (keys: typeof hostKeys): Record<string, z.ZodType> =>
    Object.fromEntries(
      keys.map(([key, { schema }]) => [key, typeof schema === 'function' ? schema(sections) : schema]),
    );
  return z
    .strictObject({
      ...schemas(hostKeys.filter(isPlain)),
      ...topLevel(sections),
      ...schemas(hostKeys.filter((key) => !isPlain(key))),
    })
    .refine((file) => file[CALLERS] !== undefined || ((file.plugins ?? []) as unknown[]).length > 0, {
      path: [CALLERS],
      message: 'missing, expected a section; only a file with an authenticating plugin under plugins: may leave it out',
      when: ({ value }) => isObject(value),
    });
}

/** Whether the host reads the key of a section, so that its plugin does not. */
export function isOfHost({ contractKey }: KeyedSection): boolean {
  return Object.hasOwn(HOST_KEYS, contractKey);
}

type Keys = typeof HOST_KEYS;
type SchemaOf<Key extends keyof Keys> = Keys[Key]['schema'] extends (...given: never) => infer Schema
  ? Schema
  : Keys[Key]['schema'];
type FileSchema = z.ZodObject<{ readonly [Key in keyof Keys]: SchemaOf<Key> & z.ZodType }>;

/** The keys of the host in a vmcp file as they are written; the sections of plugins are present too. */
export type WrittenKeys = z.input<FileSchema>;

/** A parsed vmcp file. Only the keys of the host are typed; the sections of plugins are present too. */
export type VmcpConfig = Readonly<z.output<FileSchema>>;

/** The keys of sections at top level that the host does not read itself. */
function topLevel(sections: readonly Section[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    sections
      .filter(hasKey)
      .filter((section) => !section.contractKey.includes('.') && !isOfHost(section))
      .map(({ contractKey, isRequired }) => [contractKey, isRequired ? z.unknown() : z.unknown().optional()]),
  );
}
