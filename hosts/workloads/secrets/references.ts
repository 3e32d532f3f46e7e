import { hmacSecretOf, type WebhookSettings } from '@toolmgr/plugins/kit/settings';
import { type RunConfig, secretNameOf } from '@toolmgr/plugins/kit/workloads';

/** Names of the secrets in fields that an option filled with a value: they are kept with the workload. */
export function ownSecretNames(config: RunConfig): readonly string[] {
  const references = [
    config.remote_auth_config?.bearer_token,
    config.remote_auth_config?.client_secret,
    config.oidc_config?.clientSecret,
    config.token_exchange_config?.client_secret,
    ...Object.values(config.telemetry_config?.headers ?? {}),
    ...[...(config.mutating_webhooks ?? []), ...(config.validating_webhooks ?? [])].map(hmacReference),
  ];
  return [...new Set(references.filter((reference) => reference !== undefined).map(secretNameOf))];
}

/** The reference of a named secret; a file is not a secret of the workload. */
function hmacReference({ hmac_secret_ref: reference }: WebhookSettings): string | undefined {
  return reference === undefined || 'file' in hmacSecretOf(reference) ? undefined : reference;
}

/** Names of the secrets of the user that a configuration refers to, in variables and headers. */
export function userSecretNames({ secrets = [], header_forward: forward }: RunConfig): readonly string[] {
  return [...new Set([...secrets.map(secretNameOf), ...Object.values(forward?.add_headers_from_secret ?? {})])];
}
