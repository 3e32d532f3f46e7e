import { createHash, timingSafeEqual } from 'node:crypto';
import Provider, { errors } from 'oidc-provider';
import { RecordConsumed } from '../storage/provider-adapter.ts';
import type { OauthSessions } from './oauth-sessions.ts';
import type { RefreshFamilies } from './refresh-families.ts';
import type { RevocableTokens } from './revocable-tokens.ts';
import type { SignedTexts } from './signed-texts.ts';

/** What {@link adaptModels} needs. */
export interface ModelParts {
  readonly codes: SignedTexts;
  readonly families: RefreshFamilies;
  readonly sessions: OauthSessions;
  readonly revocable: RevocableTokens;
}

interface CodeModel {
  readonly jti: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly adapter: { consume(id: string): Promise<void> };
}

interface RefreshModel {
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly resource: string;
}

/**
 * Replaces what the library does with codes, refresh tokens and secrets.
 *
 * - A code is a signed random text. It begins a session when it is used, and is used once: two requests at the same time end it.
 * - Refresh tokens are families in our storage. Revoking one, or an access token, ends the family and its session.
 * - Secrets of clients are compared by their SHA-256.
 */
export function adaptModels(provider: Provider, { codes, families, sessions, revocable }: ModelParts): void {
  const { AuthorizationCode, AccessToken, RefreshToken, Client } = provider;

  const findCode = AuthorizationCode.find;
  Object.assign(AuthorizationCode, {
    find: async (value: unknown, options: object) =>
      typeof value === 'string' && codes.verify(value) !== undefined
        ? findCode.call(AuthorizationCode, value, options)
        : undefined,
  });
  Object.assign(AuthorizationCode.prototype, {
    generateTokenId: () => codes.random(),
    async consume(this: CodeModel): Promise<void> {
      // the session begins first, so that a second use of the code always ends it
      const clientName = Provider.ctx?.oidc.client?.clientName;
      const session = { id: this.grantId, person: this.accountId, clientId: this.clientId };
      await sessions.begin({ ...session, ...(clientName === undefined ? {} : { clientName }) });
      try {
        await this.adapter.consume(this.jti);
      } catch (cause) {
        if (!(cause instanceof RecordConsumed)) throw cause;
        await sessions.end(this.grantId);
        throw new errors.InvalidGrant('authorization code already consumed');
      }
    },
  });

  Object.assign(RefreshToken, {
    async find(value: unknown) {
      const found = typeof value === 'string' ? (revocable.read(value) ?? (await families.find(value))) : undefined;
      return found && new RefreshToken({ grantId: found.tsid, clientId: found.clientId } as never);
    },
    revokeByGrantId: (grantId: string) => sessions.end(grantId),
  });
  // called for every client, also for those without refresh tokens
  Object.assign(AccessToken, { revokeByGrantId: (grantId: string) => sessions.end(grantId) });
  Object.assign(RefreshToken.prototype, {
    save(this: RefreshModel) {
      const { grantId: tsid, accountId: person, clientId, scope, resource } = this;
      return families.begin({ tsid, person, clientId, scope, resource });
    },
    destroy(this: RefreshModel) {
      return sessions.end(this.grantId);
    },
  });

  Object.assign(Client.prototype, {
    compareClientSecret(this: { readonly clientSecret?: string }, given: string): boolean {
      const expected = Buffer.from(this.clientSecret ?? '', 'hex');
      const actual = createHash('sha256').update(given).digest();
      return expected.length === actual.length && timingSafeEqual(expected, actual);
    },
  });
}
