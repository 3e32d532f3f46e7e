import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { GatewayFault, type JsonObject, type JsonValue } from '@toolmgr/core';

const ALGORITHM = 'aes-256-gcm';
const MIN_SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts and decrypts the records of the storage. */
export interface KeyRing {
  /** Encrypts with the first key. `name`: the key of the record; a record under another name does not decrypt. */
  seal(name: string, value: JsonObject): SealedRecord;
  /** @throws Error when no key fits, or the record was changed or moved; without the record's key, which may have an id of a session */
  open(name: string, sealed: SealedRecord): JsonObject;
}

/** An encrypted record: id of the key; nonce, ciphertext and tag as base64. */
export type SealedRecord = { readonly kid: string; readonly sealed: string };

/** Whether a value has the shape of an encrypted record. */
export function isSealed(value: JsonValue): value is SealedRecord & JsonObject {
  const { kid, sealed } = value as Partial<SealedRecord>;
  return typeof kid === 'string' && typeof sealed === 'string';
}

/**
 * Makes the ring. `secrets`: the first encrypts, all decrypt; `where` names the setting in errors.
 * @throws GatewayFault PLAN_INVALID for a secret below 32 bytes
 */
export function createKeyRing(secrets: readonly Buffer[], where: string): KeyRing {
  const keys = secrets.map((secret, index) => keyFrom(secret, `${where}[${index}]`));
  const byId = new Map(keys.map((key) => [key.kid, key.key]));
  const [current] = keys;
  if (current === undefined) throw new GatewayFault('PLAN_INVALID', `${where}: expected a secret`);
  return {
    seal(name, value) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return { kid: current.kid, sealed: Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64') };
    },
    open(name, { kid, sealed }) {
      const key = byId.get(kid);
      if (key === undefined) throw new Error(`no secret of ${where} has the key id ${shown(kid)}`);
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(name));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8')) as JsonObject;
      } catch {
        throw new Error('the record was changed or moved');
      }
    },
  };
}

/** HKDF accepts any secret of sufficient length, e.g. base64 of 32 random bytes. The id says nothing about the key. */
function keyFrom(secret: Buffer, where: string) {
  if (secret.length < MIN_SECRET_BYTES) {
    throw new GatewayFault(
      'PLAN_INVALID',
      `${where}: expected at least ${MIN_SECRET_BYTES} bytes, got ${secret.length}`,
    );
  }
  const key = Buffer.from(hkdfSync('sha256', secret, 'toolmgr auth storage', ALGORITHM, 32));
  return { key, kid: createHash('sha256').update('key id').update(key).digest('base64url').slice(0, 11) };
}

function shown(kid: string): string {
  return JSON.stringify(kid.slice(0, 20));
}
