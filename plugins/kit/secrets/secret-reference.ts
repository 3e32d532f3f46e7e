import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { explainCause, GatewayFault, type Secret } from '@toolmgr/core';
import { z } from 'zod';
import { readSecret, type SecretSlots } from './read-secret.ts';
import { secretOf } from './secret.ts';

/** Variable with the folder of secrets: `{name, key}` is read from the file `NAME/KEY` below it. */
export const SECRETS_DIR = 'TOOLMGR_SECRETS_DIR';

/** Bytes of one value: the limit of a Kubernetes Secret. */
const MAX_BYTES = 1024 * 1024;

const MAX_NAME = 253;
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
// without lookahead, which the API server of Kubernetes cannot read
const KEY = /^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/;

const FORMS = 'expected name and key of a secret, env with a variable, or file with a path';

/**
 * A secret by reference, so that a configuration holds no value.
 *
 * Shape: `{name, key}` of a Kubernetes Secret, or our own `{env: VARIABLE}` and `{file: PATH}`. Source: vmcp spec §2.
 */
export const secretReference = z
  .strictObject({
    name: z
      .string()
      .max(MAX_NAME)
      .regex(NAME, 'expected lower-case letters, digits, "-" and "." (a DNS subdomain)')
      .optional()
      .describe('name of the secret: a DNS subdomain'),
    key: z
      .string()
      .max(MAX_NAME)
      .regex(KEY, 'expected letters, digits, "-", "_" and "."; not "." and not beginning with ".."')
      .optional()
      .describe('key in the secret'),
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, 'expected the name of an environment variable')
      .optional()
      .describe('environment variable, instead of name and key'),
    file: z.string().min(1).max(4096).optional().describe('path of a file, instead of name and key'),
  })
  .superRefine((given, context) => {
    const missing = (key: string, other: string): void => {
      context.addIssue({ code: 'custom', path: [key], message: `missing; ${other} needs it` });
    };
    const isNamed = given.name !== undefined || given.key !== undefined;
    const forms = [isNamed, given.env !== undefined, given.file !== undefined].filter(Boolean).length;
    if (forms !== 1)
      context.addIssue({ code: 'custom', message: forms === 0 ? FORMS : `${FORMS}; not several of them` });
    else if (isNamed && given.name === undefined) missing('name', 'key');
    else if (isNamed && given.key === undefined) missing('key', 'name');
  })
  .meta({ isSecretReference: true }); // in objects of Kubernetes only name and key

/** A parsed reference. */
export type SecretReference = z.output<typeof secretReference>;

/** The reference as a message shows it, such as `signing-keys/current`, `variable KEY` or `file /run/key.pem`. */
export function describeReference({ name, key, env, file }: SecretReference): string {
  if (env !== undefined) return `variable ${env}`;
  return file === undefined ? `secret ${name}/${key}` : `file ${file}`;
}

/**
 * Reads a text such as a client secret, without one newline at its end.
 *
 * `where`: the setting, for errors.
 * @throws GatewayFault SECRET_MISSING or PLAN_INCOMPLETE with the setting and the reference, never the value; the errors of a
 * secret source
 */
export async function readSecretReference(
  slots: SecretSlots,
  reference: SecretReference,
  where: string,
): Promise<Secret> {
  const bytes = await readSecretBytes(slots, reference, where);
  const text = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (text === '') throw missing(where, reference, 'is empty');
  return secretOf(text);
}

/**
 * Reads raw bytes such as a key or an HMAC secret; nothing is trimmed. A log would show a buffer: turn it into a KeyObject.
 * @throws like {@link readSecretReference}
 */
export async function readSecretBytes(slots: SecretSlots, reference: SecretReference, where: string): Promise<Buffer> {
  const file = fileOf(reference);
  if (file !== undefined) return readBounded(file, reference, where);
  const { name, key, env } = reference;
  const variable = env ?? `${name}_${key}`.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  const setting = env === undefined ? `${where}: ${describeReference(reference)}` : where;
  const bytes = Buffer.from((await readSecret(slots, variable, setting)).reveal());
  if (bytes.length > MAX_BYTES) throw missing(where, reference, TOO_LARGE);
  return bytes;
}

/** The names in a reference of the contract cannot lead out of the folder: the schema refuses `/` and `..`. */
function fileOf({ name, key, file }: SecretReference): string | undefined {
  const folder = process.env[SECRETS_DIR];
  if (file !== undefined || name === undefined || key === undefined) return file;
  return folder === undefined || folder === '' ? undefined : join(folder, name, key);
}

async function readBounded(path: string, reference: SecretReference, where: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readFileOf(path);
  } catch (cause) {
    const place = reference.file === undefined ? ` (${path})` : '';
    throw missing(where, reference, `cannot be read${place}: ${explainCause(cause)}`);
  }
  if (bytes.length > MAX_BYTES) throw missing(where, reference, TOO_LARGE);
  if (bytes.length === 0) throw missing(where, reference, 'is empty');
  return bytes;
}

async function readFileOf(path: string): Promise<Buffer> {
  // a pipe would block without O_NONBLOCK
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is not a regular file');
    const buffer = Buffer.alloc(Math.min(stat.size, MAX_BYTES) + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead < stat.size && bytesRead < buffer.length) throw new Error('it was read only in part');
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const TOO_LARGE = `has more than ${MAX_BYTES} bytes`;

function missing(where: string, reference: SecretReference, why: string): GatewayFault {
  return new GatewayFault('SECRET_MISSING', `${where}: ${describeReference(reference)} ${why}`);
}
