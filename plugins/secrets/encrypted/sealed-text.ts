import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DamagedSecrets } from '@toolmgr/plugins/kit/secrets';
import { type FileHeader, readHeader } from './file-header.ts';

/** The key of a file, with the header line that says how it is derived. */
export interface FileKey {
  readonly header: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** An encrypted file, read but not decrypted. */
export interface SealedText {
  /** The first line as it is in the file: it is authenticated with the content. */
  readonly line: string;
  readonly header: FileHeader;
  /** Nonce, tag and ciphertext. */
  readonly body: Buffer;
}

/**
 * Encrypts a text with AES-256-GCM and a fresh nonce. Shape: the header line, then one line of base64.
 * Source: NIST SP 800-38D.
 */
export function seal({ header, key }: FileKey, plain: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(header));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return `${header}\n${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}\n`;
}

/**
 * Reads the two lines of an encrypted file. Only the exact text that {@link seal} writes is accepted.
 * @throws GatewayFault SECRETS_UNAVAILABLE naming the path and what is wrong, never the content
 */
export function readSealed(path: string, text: string): SealedText {
  const [line = '', data = '', ...rest] = text.split('\n');
  const header = readHeader(path, line);
  const body = Buffer.from(data, 'base64');
  const isWhole = rest.length === 1 && rest[0] === '' && body.length >= NONCE_BYTES + TAG_BYTES;
  // the decoder of Node skips characters that are no base64, so the text is compared
  if (isWhole && body.toString('base64') === data) return { line, header, body };
  throw new DamagedSecrets(`${path} is incomplete or damaged: restore it from a backup`);
}

/** Decrypts. @throws GatewayFault SECRETS_UNAVAILABLE when a byte was changed */
export function unseal(path: string, { line, body }: SealedText, key: Buffer): string {
  const tag = body.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(line)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(body.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    throw new DamagedSecrets(
      `${path} was damaged or changed by another program: its content is not what toolmgr wrote. Restore it from a backup`,
    );
  }
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
