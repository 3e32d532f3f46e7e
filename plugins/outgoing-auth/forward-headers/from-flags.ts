import { present } from '@toolmgr/core';
import { type FromFlags, headerSecret, type RunConfig, secretNameOf } from '@toolmgr/plugins/kit/workloads';

/** Fixed headers of requests to a remote server, and its bearer token. */
export const fromFlags: FromFlags = {
  where: '--remote-forward-headers',
  plan(config, _start, use) {
    const headers = forwardedHeaders(config);
    if (headers === undefined) return {};
    return {
      plugins: [{ use }],
      strategyAround: (after) => ({ type: 'forward_headers', options: { ...headers, after } }),
    };
  },
};

function forwardedHeaders({ header_forward: forward, remote_auth_config: auth, remote_headers: known }: RunConfig) {
  const { add_plaintext_headers: given, add_headers_from_secret: secrets } = forward ?? {};
  const headers = withDefaults(known ?? [], given, secrets);
  const { bearer_token: reference, bearer_token_file: bearerTokenFile } = auth ?? {};
  const found = present({
    headers,
    headersEnv:
      secrets && Object.fromEntries(Object.entries(secrets).map(([header, name]) => [header, headerSecret(name)])),
    bearerTokenEnv: reference && secretNameOf(reference),
    bearerTokenFile,
  });
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Headers with the defaults of those that have no value. */
function withDefaults(
  known: NonNullable<RunConfig['remote_headers']>,
  given: Readonly<Record<string, string>> | undefined,
  secrets: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const names = new Set(Object.keys({ ...given, ...secrets }).map((name) => name.toLowerCase()));
  const open = known.flatMap(({ name, default: value }) =>
    value === undefined || value === '' || names.has(name.toLowerCase()) ? [] : [[name, value] as const],
  );
  return open.length === 0 ? given : { ...Object.fromEntries(open), ...given };
}
