import { errors, type ResourceServer } from 'oidc-provider';
import type { SigningKey } from './signing-keys.ts';

/**
 * Which resources tokens are issued for (RFC 8707): one for each request, out of the allowed ones; without `resource` the only
 * allowed one.
 */
export function audienceRules(
  allowed: readonly string[],
  scopes: readonly string[],
  accessTokenSeconds: number,
  { alg, kid }: Pick<SigningKey, 'alg' | 'kid'>,
) {
  const [sole, ...others] = allowed;
  const refuse = (): never => {
    throw new errors.InvalidTarget('expected one resource that this server issues tokens for');
  };
  return {
    defaultResource: (_ctx: unknown, _client: unknown, requested?: readonly string[]): string => {
      const [first, ...more] = requested ?? [];
      if (first !== undefined) return more.length === 0 ? first : refuse();
      return sole !== undefined && others.length === 0 ? sole : refuse();
    },
    getResourceServerInfo: (_ctx: unknown, resource: string): ResourceServer => {
      if (!allowed.includes(resource)) return refuse();
      return {
        scope: scopes.join(' '),
        audience: resource,
        accessTokenTTL: accessTokenSeconds,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg, kid } },
      };
    },
    useGrantedResource: () => true,
  };
}

/** The parsed rules. */
export type AudienceRules = ReturnType<typeof audienceRules>;
