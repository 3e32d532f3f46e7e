import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { LOOPBACK, notPublic } from '../safe-http/public-address.ts';
import { remoteUrlProblem, type UrlRules } from '../safe-http/remote-url.ts';
import { durationMs } from './go-duration.ts';
import { uniqueNames } from './unique-names.ts';

const NS_PER_MS = 1_000_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;
const DEFAULT_MS = 10_000;
const MAX_WEBHOOKS = 32;

const text = z.string().min(1, 'expected a text that is not empty');

/** Nanoseconds of a Go duration or of an integer. Source: workload API spec §2 Webhook; run reference §8.4. */
const timeout = z
  .union([z.string(), z.number()], { error: 'expected a Go duration such as 5s, or nanoseconds' })
  .transform((given, context) => {
    const ms = typeof given === 'number' ? given / NS_PER_MS : durationMs(given);
    if (ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS) return Math.round(ms * NS_PER_MS);
    context.addIssue({
      code: 'custom',
      message: 'expected a Go duration from 1s to 30s, or the same in nanoseconds as an integer',
    });
    return z.NEVER;
  });

const tls = z
  .strictObject({
    ca_bundle_path: text.optional().describe("PEM file with CA certificates, instead of the system's"),
    client_cert_path: text.optional().describe('PEM file with the certificate of this client; needs client_key_path'),
    client_key_path: text.optional().describe('PEM file with its private key'),
    insecure_skip_verify: z
      .boolean()
      .optional()
      .describe('accept any certificate, and plain http; for development only'),
  })
  .refine((given) => (given.client_cert_path === undefined) === (given.client_key_path === undefined), {
    message: 'expected client_cert_path and client_key_path together',
  });

/** One webhook. The names are those of the contract; `allow_private_ip` is ours. */
export const webhookSettings = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'expected letters, digits, dots, hyphens and underscores, at most 63')
      .describe('name in logs; files with the same name replace each other'),
    url: z.string().describe('where requests are posted'),
    timeout: timeout
      .default(DEFAULT_MS * NS_PER_MS)
      .describe('time for one request: a Go duration, or an integer of nanoseconds; 1s to 30s, 10s by default'),
    failure_policy: z
      .enum(['fail', 'ignore'])
      .default('fail')
      .describe('calls while the webhook gives no valid answer: fail refuses them, ignore sends them unchecked'),
    tls_config: tls.optional().describe('certificates'),
    hmac_secret_ref: z
      .string()
      .regex(/^(\/.+|[A-Za-z0-9_.-]+(,target=[A-Za-z0-9_.-]+)?)$/, {
        error: 'expected the name of a secret, or the absolute path of a file that contains it',
      })
      .optional()
      .describe('secret that signs the requests: its name, or the absolute path of a file, read for each request'),
    allow_private_ip: z
      .boolean()
      .optional()
      .describe('allow private addresses; loopback addresses in `url` are always allowed'),
  })
  .superRefine((given, context) => {
    const problem = remoteUrlProblem(given.url, addressRules(given));
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: withAdvice(problem) });
  });

/** A webhook; `timeout` in nanoseconds. */
export type WebhookSettings = z.output<typeof webhookSettings>;

/** The webhooks of one kind, in the order in which they are asked. */
export const webhookList = z
  .array(webhookSettings)
  .max(MAX_WEBHOOKS, `expected at most ${MAX_WEBHOOKS} webhooks`)
  .superRefine(uniqueNames);

/** Milliseconds of a `timeout`. */
export function timeoutMsOf({ timeout: ns }: Pick<WebhookSettings, 'timeout'>): number {
  return Math.ceil(ns / NS_PER_MS);
}

/** The file of a secret, when the reference is a path; otherwise the name of the secret. */
export function hmacSecretOf(reference: string): { readonly file: string } | { readonly name: string } {
  return isAbsolute(reference) ? { file: reference } : { name: reference.replace(/,.*$/, '') };
}

/** What the URL of a webhook may be. Loopback is allowed only where the URL names it, so that no DNS answer leads there. */
export function addressRules({
  url,
  tls_config: tlsConfig,
  allow_private_ip: isPrivate,
}: {
  readonly url: string;
  readonly tls_config?: { readonly insecure_skip_verify?: boolean | undefined } | undefined;
  readonly allow_private_ip?: boolean | undefined;
}): UrlRules {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  return {
    allowHttp: tlsConfig?.insecure_skip_verify === true,
    allowLoopback: host === 'localhost' || host.endsWith('.localhost') || notPublic(host) === LOOPBACK,
    allowPrivateAddresses: isPrivate === true,
  };
}

/** The error of a refused URL, with the setting that allows it. */
function withAdvice(problem: string): string {
  if (problem.includes('plain http')) return `${problem} (tls_config.insecure_skip_verify allows it, for development)`;
  return problem.startsWith('leads to') ? `${problem} (allow_private_ip allows it)` : problem;
}
