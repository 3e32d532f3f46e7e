import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

/** Signs texts with the first of several secrets and verifies with all, so that a secret can be replaced. */
export interface SignedTexts {
  /** `TEXT~SIGNATURE`. The same for the same text while the first secret stays. */
  sign(text: string): string;
  /** The signed text; `undefined` when the signature is of none of the secrets. */
  verify(signed: string): string | undefined;
  /** A signed random text with 256 bits of entropy. */
  random(): string;
}

/**
 * Creates signatures for one purpose, HMAC-SHA256. A signature for one purpose is not valid for another.
 *
 * `secrets`: at least one; the first signs.
 */
export function createSignedTexts(secrets: readonly KeyObject[], purpose: string): SignedTexts {
  const keys = secrets.map((secret) => purposeKey(secret, purpose));
  const [current] = keys;
  if (current === undefined) throw new Error('signed texts need a secret');
  const sign = (text: string): string => `${text}~${macOf(current, text).toString('base64url')}`;
  return {
    sign,
    verify(signed) {
      const at = signed.lastIndexOf('~');
      if (at < 0 || signed.length > MAX_LENGTH) return undefined;
      const text = signed.slice(0, at);
      const mac = Buffer.from(signed.slice(at + 1), 'base64url');
      // the text of the signature has to be the canonical one, so that a token has one spelling
      if (mac.toString('base64url') !== signed.slice(at + 1)) return undefined;
      const isValid = keys.some((key) => {
        const expected = macOf(key, text);
        return expected.length === mac.length && timingSafeEqual(expected, mac);
      });
      return isValid ? text : undefined;
    },
    random: () => sign(randomBytes(32).toString('base64url')),
  };
}

/** A key of 32 bytes for one purpose (RFC 5869). */
export function purposeKey(secret: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `toolmgr auth-server ${purpose}`, 32)));
}

function macOf(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

const MAX_LENGTH = 1024;
