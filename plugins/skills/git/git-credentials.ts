/** Variables with a token for a host, and the user name that the host expects with it. */
const BY_HOST: Readonly<Record<string, readonly [variable: string, user: string]>> = {
  'github.com': ['GITHUB_TOKEN', 'x-access-token'],
  'gitlab.com': ['GITLAB_TOKEN', 'oauth2'],
};
const OTHERS = ['GIT_TOKEN', 'git'] as const;

/**
 * The header `authorization` for a git host from the environment; `undefined` without a token.
 *
 * `isNamedByUser`: the user named the host, and not a registry, another skill, a lock file or an agent. `GIT_TOKEN` has no host of its
 * own, so others get it only when `GIT_TOKEN_HOST` names them; then no other host gets it.
 * Source: reference workload-api §5.3.
 */
export function gitAuthorization(host: string, env: NodeJS.ProcessEnv, isNamedByUser: boolean): string | undefined {
  const known = BY_HOST[host];
  const { GIT_TOKEN_HOST: bound } = env;
  const isMeant = bound ? bound.toLowerCase() === host : isNamedByUser;
  if (known === undefined && !isMeant) return undefined;
  const [variable, user] = known ?? OTHERS;
  const token = env[variable];
  return token ? `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` : undefined;
}
