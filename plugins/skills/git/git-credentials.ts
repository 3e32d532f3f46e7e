/** Variables with a token for a host, and the user name that the host expects with it. */
const BY_HOST: Readonly<Record<string, readonly [variable: string, user: string]>> = {
  'github.com': ['GITHUB_TOKEN', 'x-access-token'],
  'gitlab.com': ['GITLAB_TOKEN', 'oauth2'],
};
const OTHERS = ['GIT_TOKEN', 'git'] as const;

/**
 * The header `authorization` for a git host from the environment; `undefined` without a token.
 *
 * `isTrusted`: the user named the host. `GIT_TOKEN` is for any host, so it is not sent to one that a registry names.
 * Source: reference workload-api §5.3.
 */
export function gitAuthorization(host: string, env: NodeJS.ProcessEnv, isTrusted: boolean): string | undefined {
  const known = BY_HOST[host];
  if (known === undefined && !isTrusted) return undefined;
  const [variable, user] = known ?? OTHERS;
  const token = env[variable];
  return token ? `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` : undefined;
}
