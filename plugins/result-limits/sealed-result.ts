import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/**
 * A result in a store, readable only with its id and as the caller it was made for.
 *
 * The id is 256 random bits. The store sees two values made of it: a hash as the key, and the result encrypted with AES-256-GCM under
 * another hash. The caller is authenticated with it, so the id alone opens nothing for someone else.
 */
export function sealResult(id: string, callerKey: string, result: Buffer): string {
  const cipher = createCipheriv(CIPHER, cipherKeyOf(id), IV).setAAD(Buffer.from(callerKey));
  return Buffer.concat([cipher.update(result), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** The result; `undefined` for another caller, and for a value that was changed. */
export function openResult(id: string, callerKey: string, sealed: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < TAG_BYTES) return undefined;
  const tagAt = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, cipherKeyOf(id), IV, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(callerKey))
    .setAuthTag(bytes.subarray(tagAt));
  const opened = decipher.update(bytes.subarray(0, tagAt));
  try {
    return Buffer.concat([opened, decipher.final()]);
  } catch {
    return undefined; // of another caller, or changed
  }
}

/** Characters of {@link sealResult} for a result of so many bytes. */
export function sealedLength(bytes: number): number {
  return Math.ceil((bytes + TAG_BYTES) / 3) * 4;
}

export function newResultId(): string {
  return randomBytes(32).toString('base64url');
}

export function isResultId(text: string): boolean {
  return ID.test(text);
}

/** The key in the store. It does not reveal the id. */
export function storeKeyOf(id: string): string {
  return `kept-result:${hash('sha256', `store\0${id}`, 'base64url')}`;
}

function cipherKeyOf(id: string): Buffer {
  return hash('sha256', `cipher\0${id}`, 'buffer');
}

const CIPHER = 'aes-256-gcm';
const IV = Buffer.alloc(12); // each key seals one result
const TAG_BYTES = 16;
const ID = /^[\w-]{43}$/;
