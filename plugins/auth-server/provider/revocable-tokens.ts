import type { JsonObject } from '@toolmgr/core';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { SignedTexts } from './signed-texts.ts';

/** A session that a token belongs to, and the client that may end it. */
export interface RevocableSession {
  readonly tsid: string;
  readonly clientId: string;
}

/** Access tokens at the revocation endpoint: the library refuses JWTs there, so they are exchanged for signed texts before. */
export interface RevocableTokens {
  /** The form with the access token in `token` exchanged; the same form for any other token. */
  exchange(form: Buffer): Promise<Buffer>;
  /** The session of an exchanged token. */
  read(text: string): RevocableSession | undefined;
}

/** Creates the exchange. Tokens that have expired are exchanged too: their session may go on. */
export function createRevocableTokens(
  issuer: string,
  publicKeys: readonly JsonObject[],
  signed: SignedTexts,
): RevocableTokens {
  const keys = createLocalJWKSet({ keys: [...publicKeys] } as never);
  return {
    async exchange(form) {
      const fields = new URLSearchParams(form.toString());
      const token = fields.get('token') ?? '';
      if (token.split('.').length !== 3) return form;
      const options = { issuer, typ: 'at+jwt', currentDate: new Date(0) };
      const verified = await jwtVerify(token, keys, options).catch(() => undefined);
      const { tsid, client_id: clientId } = verified?.payload ?? {};
      if (typeof tsid !== 'string' || typeof clientId !== 'string') return form;
      fields.set('token', signed.sign(`${tsid}~${clientId}`));
      return Buffer.from(fields.toString());
    },
    read(text) {
      const value = signed.verify(text);
      const at = value?.indexOf('~') ?? -1;
      return value === undefined || at < 0 ? undefined : { tsid: value.slice(0, at), clientId: value.slice(at + 1) };
    },
  };
}
