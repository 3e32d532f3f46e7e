import { dirname, resolve } from 'node:path';
import { hmacSecretOf, type WebhookSettings, webhookList } from '@toolmgr/plugins/kit/settings';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { UsageError } from '../../shared/usage-error.ts';
import { findUserSecret } from '../secrets/start-secrets.ts';
import { type SecretCollector, secretVariable } from './collect-secrets.ts';
import { readOptionFile } from './option-file.ts';

const OPTION = '--webhook-config';
const webhookFile = z.strictObject({ mutating: webhookList.default([]), validating: webhookList.default([]) });

/** Finds a secret of the user by its name. */
type FindSecret = (name: string) => Promise<string | undefined>;

/** The fields of a run configuration with webhooks. */
export type Webhooks = Pick<RunConfig, 'mutating_webhooks' | 'validating_webhooks'>;

/**
 * Reads the files of `--webhook-config` in order. A webhook replaces an earlier one of the same kind and name in its place; others are
 * added at the end. Paths of certificates are relative to their file. Secrets that are named become secrets of the workload.
 * @throws UsageError naming the file and what is wrong
 */
export async function webhooksFromFlags(
  files: readonly string[],
  cwd: string,
  secrets: SecretCollector,
  findSecret: FindSecret = findUserSecret,
): Promise<Webhooks> {
  const merged = { mutating: new Map<string, WebhookSettings>(), validating: new Map<string, WebhookSettings>() };
  for (const file of files) {
    const read = await readOptionFile(OPTION, file, cwd, webhookFile);
    const folder = dirname(resolve(cwd, file));
    for (const kind of ['mutating', 'validating'] as const) {
      for (const webhook of read[kind]) {
        merged[kind].set(webhook.name, await withSecret(withPaths(webhook, folder), file, secrets, findSecret));
      }
    }
  }
  return {
    ...(merged.mutating.size === 0 ? {} : { mutating_webhooks: [...merged.mutating.values()] }),
    ...(merged.validating.size === 0 ? {} : { validating_webhooks: [...merged.validating.values()] }),
  };
}

/** Absolute, because the proxy runs in another folder. */
function withPaths(webhook: WebhookSettings, folder: string): WebhookSettings {
  const { tls_config: tls } = webhook;
  if (tls === undefined) return webhook;
  const paths = (['ca_bundle_path', 'client_cert_path', 'client_key_path'] as const).flatMap((key) => {
    const path = tls[key];
    return path === undefined ? [] : [[key, resolve(folder, path)] as const];
  });
  return { ...webhook, tls_config: { ...tls, ...Object.fromEntries(paths) } };
}

/** A file with a secret is read by the proxy, for each request. */
async function withSecret(
  webhook: WebhookSettings,
  file: string,
  secrets: SecretCollector,
  findSecret: FindSecret,
): Promise<WebhookSettings> {
  const { hmac_secret_ref: reference, name } = webhook;
  const secret = reference === undefined ? undefined : hmacSecretOf(reference);
  if (secret === undefined || 'file' in secret) return webhook;
  const value = (await findSecret(secret.name)) ?? '';
  if (value !== '') return { ...webhook, hmac_secret_ref: secrets.keep(secret.name, 'hmac_secret', value) };
  throw new UsageError(
    `${OPTION} ${file}: ${name}.hmac_secret_ref: there is no secret ${secret.name}; store it with toolmgr secret set ${secret.name}, set the variable ${secretVariable(secret.name)}, or give the absolute path of a file`,
  );
}
