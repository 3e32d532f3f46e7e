import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { explainIssues } from '@toolmgr/core';
import { parse } from 'yaml';
import { z } from 'zod';

/** The current context of kubeconfig files, with absolute paths; without a `cluster` when no file has it. */
export interface CurrentContext {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly cluster: (z.output<typeof clusterSchema> & { readonly name: string }) | undefined;
  readonly user: User;
}

/** YAML reads a password of digits as a number. */
const text = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .transform((value) => (value === null || value === undefined || value === '' ? undefined : String(value)));

const clusterSchema = z.object({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
});

const pluginSchema = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

const userSchema = z.object({
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  exec: pluginSchema.nullish(),
  'auth-provider': z.object({ name: z.string(), config: z.record(z.string(), text).nullish() }).nullish(),
});

const contextSchema = z.object({ cluster: z.string().min(1), user: text, namespace: text });

const list = z.array(z.looseObject({ name: z.string() })).nullish();
const fileSchema = z.looseObject({ 'current-context': text, contexts: list, clusters: list, users: list });

/** What a user is known by. */
export type User = z.output<typeof userSchema>;
/** A program that prints credentials. */
export type CredentialPlugin = z.output<typeof pluginSchema>;

/**
 * Reads the current context. What several files have is taken from the first of them, as kubectl does.
 * @throws Error that says what is wrong
 */
export function readCurrentContext(files: readonly string[]): CurrentContext {
  const read = files.map((file) => {
    return { folder: dirname(file), ...checked(fileSchema, parse(readFileSync(file, 'utf8')), '') };
  });
  const entry = <S extends z.ZodType>(kind: 'context' | 'cluster' | 'user', name: string | undefined, schema: S) => {
    for (const { folder, [`${kind}s` as const]: all } of read) {
      const found = all?.find((each) => each.name === name);
      if (found !== undefined) return withPaths(checked(schema, found[kind] ?? {}, `${kind} '${name}'`), folder);
    }
    return undefined;
  };
  const name = read.find((file) => file['current-context'] !== undefined)?.['current-context'];
  const context = name === undefined ? undefined : entry('context', name, contextSchema);
  const cluster = context && entry('cluster', context.cluster, clusterSchema);
  return {
    name,
    namespace: context?.namespace,
    cluster: cluster && context && { ...cluster, name: context.cluster },
    user: entry('user', context?.user, userSchema) ?? userSchema.parse({}),
  };
}

function checked<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new Error(explainIssues(where, schema, error).join('; '));
}

const PATHS: ReadonlySet<string> = new Set([
  ...['certificate-authority', 'client-certificate', 'client-key', 'tokenFile', 'command', 'idp-certificate-authority'],
]);

/** Paths are relative to the file that has them. A command without a slash is searched in PATH. */
function withPaths<T>(given: T, folder: string): T {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const entries = Object.entries(given).map(([name, value]) => {
    if (typeof value !== 'string') return [name, withPaths(value, folder)];
    const isPath = PATHS.has(name) && !isAbsolute(value) && (name !== 'command' || value.includes('/'));
    return [name, isPath ? join(folder, value) : value];
  });
  return Object.fromEntries(entries) as T;
}
