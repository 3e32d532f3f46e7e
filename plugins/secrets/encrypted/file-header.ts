import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DamagedSecrets } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

/** Cost of scrypt. Memory: 128 · N · r bytes. */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and about 0.2 s. Source: OWASP Password Storage Cheat Sheet, scrypt. */
export const PASSWORD_COST: ScryptCost = { N: 32_768, r: 8, p: 3 };
/** For passwords of 256 random bits, which cannot be guessed at any cost. */
export const RANDOM_PASSWORD_COST: ScryptCost = { N: 16_384, r: 8, p: 1 };

const base64 = (bytes: number) =>
  z.string().refine((text) => Buffer.from(text, 'base64').length === bytes, { error: `expected ${bytes} bytes` });

// the limits are checked before scrypt runs, because anyone who can write the file chooses the numbers
const header = z
  .strictObject({
    format: z.literal('toolmgr-secrets'),
    version: z.literal(1),
    /** Stays the same when the password changes: the name of the password in the keyring. */
    id: z.uuid(),
    kdf: z.literal('scrypt'),
    N: z
      .int()
      .min(1024)
      .max(262_144)
      .refine((n) => Number.isInteger(Math.log2(n)), { error: 'expected a power of two' }),
    r: z.int().min(1).max(16),
    p: z.int().min(1).max(16),
    salt: base64(16),
    /** Tells a wrong password from a damaged file. */
    check: base64(16),
  })
  .refine(({ N, r }) => 128 * N * r <= MAX_MEMORY_BYTES, { error: 'asks for too much memory' })
  .refine(({ N, r, p }) => N * r * p <= MAX_WORK, { error: 'asks for too much time' });

/** How the key of a file is derived from its password. Not secret. */
export type FileHeader = z.output<typeof header>;

const MAX_MEMORY_BYTES = 128 * 1024 * 1024;
const MAX_WORK = 2 ** 22; // five times PASSWORD_COST

/**
 * Reads the first line of a file.
 * @throws GatewayFault SECRETS_UNAVAILABLE for another format or version and for costs over the limits
 */
export function readHeader(path: string, line: string): FileHeader {
  const value = parsed(line);
  const read = header.safeParse(value);
  if (read.success) return read.data;
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown };
  if (format === 'toolmgr-secrets' && typeof version === 'number' && version !== 1) {
    throw unavailable(path, `has version ${version} of the format, and this toolmgr reads version 1: update toolmgr`);
  }
  if (format !== 'toolmgr-secrets') throw unavailable(path, 'is not a file of encrypted secrets, or is damaged');
  const wrong = read.error.issues.map(({ path: [key = 'the header'], message }) => `${String(key)}: ${message}`);
  throw unavailable(path, `has a damaged first line (${wrong.join(', ')}): restore it from a backup`);
}

/** Makes the header line and the key of a new password. */
export async function newHeader(
  password: string,
  { N, r, p }: ScryptCost,
  id: string = randomUUID(),
): Promise<{ readonly header: string; readonly key: Buffer }> {
  const salt = randomBytes(16);
  const { key, check } = await derive(password, { N, r, p, salt });
  const fields = { format: 'toolmgr-secrets', version: 1, id, kdf: 'scrypt', N, r, p, salt: salt.toString('base64') };
  return { header: JSON.stringify({ ...fields, check: check.toString('base64') }), key };
}

/** The key; `undefined` when the password is wrong. */
export async function keyFrom(password: string, { N, r, p, salt, check }: FileHeader): Promise<Buffer | undefined> {
  const derived = await derive(password, { N, r, p, salt: Buffer.from(salt, 'base64') });
  return timingSafeEqual(derived.check, Buffer.from(check, 'base64')) ? derived.key : undefined;
}

async function derive(password: string, { salt, ...cost }: ScryptCost & { readonly salt: Buffer }) {
  // one output, two independent blocks: the second is public
  const bytes = await scryptAsync(password.normalize('NFC'), salt, KEY_BYTES + CHECK_BYTES, {
    ...cost,
    maxmem: 2 * MAX_MEMORY_BYTES,
  });
  return { key: bytes.subarray(0, KEY_BYTES), check: bytes.subarray(KEY_BYTES) };
}

const scryptAsync = promisify<string, Buffer, number, ScryptCost & { readonly maxmem: number }, Buffer>(scrypt);
const KEY_BYTES = 32;
const CHECK_BYTES = 16;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function unavailable(path: string, why: string): DamagedSecrets {
  return new DamagedSecrets(`${path} ${why}`);
}
