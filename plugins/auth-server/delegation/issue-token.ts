import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { importJWK, SignJWT } from 'jose';

/** The key that signs tokens of this server. */
export interface SigningKeyOfServer {
  readonly alg: string;
  readonly kid: string;
  readonly privateJwk: JsonObject;
}

/** What differs between issued tokens. */
export interface TokenContents {
  readonly subject: string;
  readonly audience: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly lifetimeS: number;
  /** `act`, and what is known of the person. */
  readonly further: JsonObject;
}

/** An issued token and its lifetime in seconds. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresInS: number;
  readonly scope: string;
}

/** Issues access tokens as JWTs (RFC 9068). They have no `tsid`, so they get no tokens of upstream providers. */
export type IssueToken = (contents: TokenContents) => Promise<IssuedToken>;

/** Makes the issuer of tokens. `now` returns epoch milliseconds. */
export function createIssueToken(
  issuer: string,
  { alg, kid, privateJwk }: SigningKeyOfServer,
  now: () => number,
): IssueToken {
  const key = importJWK({ ...privateJwk }, alg);
  return async ({ subject, audience, clientId, scopes, lifetimeS, further }) => {
    const nowS = Math.floor(now() / 1000);
    const scope = scopes.join(' ');
    const claims = { ...further, client_id: clientId, scp: [...scopes], ...(scope === '' ? {} : { scope }) };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'at+jwt', kid })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + lifetimeS)
      .setJti(randomUUID())
      .sign(await key);
    return { token, expiresInS: lifetimeS, scope };
  };
}
