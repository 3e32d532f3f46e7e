import { errors, type KoaContextWithOIDC } from 'oidc-provider';

/**
 * Checks the scopes and the resource of an authorization request, after the redirect URI.
 *
 * Without `scope` the client's registered scopes are requested. `offline_access` needs no prompt, against OpenID Connect Core
 * §11: MCP clients ask for it without one.
 * @throws errors.InvalidScope, errors.InvalidTarget
 */
export function checkScopes(ctx: KoaContextWithOIDC, supported: readonly string[]): void {
  const { params, client } = ctx.oidc;
  if (params === undefined || client === undefined) return;
  if (Array.isArray(params.resource) && params.resource.length > 1) {
    throw new errors.InvalidTarget('expected one resource');
  }
  const allowed =
    client.scope === undefined ? supported : client.scope.split(' ').filter((each) => supported.includes(each));
  const { scope } = ctx.query;
  const requested = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [];
  const unknown = requested.find((each) => !allowed.includes(each));
  if (unknown !== undefined) throw new errors.InvalidScope('requested scope is not allowed for this client', unknown);
  params.scope = [...new Set(requested.length === 0 ? allowed : requested)].join(' ');
}
