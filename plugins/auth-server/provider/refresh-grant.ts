import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Accounts } from '../accounts/accounts.ts';
import { afterAnswer } from './after-answer.ts';
import type { AudienceRules } from './audience-rules.ts';
import type { OauthSessions } from './oauth-sessions.ts';
import type { RefreshFamilies, RefreshGrant } from './refresh-families.ts';

/** What the grant needs. */
export interface RefreshGrantParts {
  readonly families: RefreshFamilies;
  readonly sessions: OauthSessions;
  readonly accounts: Pick<Accounts, 'person'>;
  readonly audiences: AudienceRules;
}

type RefreshParameters = {
  readonly refresh_token?: string;
};

/**
 * Replaces the library's grant `refresh_token`, whose rotation is not atomic: two requests with one token would both get a new
 * one, and a repeated request would sign the person out.
 *
 * A replayed token ends its family and session.
 * Source: RFC 6749 §6, OAuth 2.1 §4.3.1.
 */
export function registerRefreshGrant(
  provider: Provider,
  { families, sessions, accounts, audiences }: RefreshGrantParts,
): void {
  provider.registerGrantType<RefreshParameters>(
    'refresh_token',
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const { refresh_token: given } = params;
      if (given === undefined) throw new errors.InvalidRequest("missing required parameter(s) 'refresh_token'");
      let scope = '';
      const rotation = await families.rotate(given, client.clientId, async (grant) => {
        scope = scopeOf(params.scope, grant);
        checkResource(params.resource, grant);
        const person = await accounts.person(grant.person);
        if (person === undefined) throw new errors.InvalidGrant('refresh token invalid');
        if (!(await sessions.extend(grant.tsid))) {
          await families.end(grant.tsid);
          throw new errors.InvalidGrant('the session has ended');
        }
        ctx.oidc.entity('Account', { accountId: person.id, claims: () => ({ sub: person.id }), person });
      });
      if ('refused' in rotation) {
        if (rotation.refused === 'reused') await sessions.end(rotation.tsid);
        throw new errors.InvalidGrant('refresh token invalid');
      }
      const { grant, token, delivered } = rotation;
      const access = new provider.AccessToken({
        accountId: grant.person,
        client,
        grantId: grant.tsid,
        gty: 'refresh_token',
      });
      const server = audiences.getResourceServerInfo(ctx, grant.resource);
      access.resourceServer = new provider.ResourceServer(grant.resource, server);
      access.scope = scope;
      ctx.body = {
        access_token: await access.save(),
        token_type: 'Bearer',
        expires_in: access.expiration,
        refresh_token: token,
        scope,
      };
      afterAnswer(ctx.req, delivered);
    },
    ['refresh_token', 'scope', 'resource'],
    ['resource'],
  );
}

function scopeOf(requested: string | undefined, { scope }: RefreshGrant): string {
  if (requested === undefined || requested === '') return scope;
  const granted = scope.split(' ');
  const missing = requested.split(' ').find((each) => !granted.includes(each));
  if (missing !== undefined) throw new errors.InvalidScope('refresh token missing requested scope', missing);
  return requested;
}

/** Source: RFC 8707 §2.2. The audience is that of the first token. */
function checkResource(requested: string | readonly string[] | undefined, { resource }: RefreshGrant): void {
  const [first, ...others] = [requested ?? []].flat();
  if (first === undefined || (first === resource && others.length === 0)) return;
  throw new errors.InvalidTarget('expected the resource that the refresh token was issued for');
}
