import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Core, createOutageLog, explainCause, GatewayFault, readCaBundle } from '@toolmgr/core';
import { createRemoteHttp, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import { createSigner, type Sign } from '@toolmgr/plugins/kit/secrets';
import { addressRules, hmacSecretOf, timeoutMsOf, type WebhookSettings } from '@toolmgr/plugins/kit/settings';
import type { Payload } from './payload.ts';
import { readVerdict, type Verdict } from './verdict.ts';

/** Of a request and of a response. Source: run reference §8.6. */
export const MAX_BODY_BYTES = 1024 * 1024;
const CONNECTIONS = 32;
/** Requests to one webhook that wait for an answer; one more fails at once. */
const MAX_WAITING = 256;

/** Why a webhook gave no verdict, or that its request would be too large. */
export type NoVerdict = { readonly failed: true } | { readonly tooLarge: true };

/** One webhook with its connections. */
export interface Webhook {
  readonly settings: WebhookSettings;
  /** Reads certificates and secrets. @throws GatewayFault naming the setting */
  start(): Promise<void>;
  /** Asks it about a call. Never rejects: why there is no verdict is logged, at most twice for each outage. */
  ask(payload: Payload, signal: AbortSignal): Promise<Verdict | NoVerdict>;
  /** Reports that the verdict cannot be used, e.g. a patch that cannot be applied. */
  failed(why: string): NoVerdict;
  /** Reports that the patch of the verdict was applied. */
  worked(): void;
  close(): Promise<void>;
}

/** Makes a webhook; `setting` is its place in the configuration, e.g. `mutating[0]`. Opens nothing. */
export function createWebhook(
  core: Pick<Core, 'log' | 'now' | 'slots'>,
  kind: 'mutating' | 'validating',
  settings: WebhookSettings,
  setting: string,
): Webhook {
  const { name, url } = settings;
  const timeoutMs = timeoutMsOf(settings);
  const outage = createOutageLog(core, {
    began: 'a webhook gives no valid answer',
    over: 'a webhook gives valid answers again',
    fields: { webhook: name, kind, url: plainUrl(url), calls: settings.failure_policy === 'fail' ? 'fail' : 'pass' },
    repeatMs: 60_000,
  });
  let http: RemoteHttp | undefined;
  let sign: Sign | undefined;
  let waiting = 0;
  const failed = (cause: unknown): NoVerdict => {
    outage.failed(cause);
    return FAILED;
  };
  return {
    settings,
    async start() {
      const { hmac_secret_ref: reference } = settings;
      if (reference !== undefined) {
        sign = await createSigner(core.slots, hmacSecretOf(reference), `${setting}.hmac_secret_ref`);
      }
      http = createRemoteHttp({
        ...addressRules(settings),
        ...certificatesOf(settings, setting),
        timeoutMs,
        maxBytes: MAX_BODY_BYTES,
        connections: CONNECTIONS,
      });
      if (settings.tls_config?.insecure_skip_verify !== true) return;
      core.log.warn('a webhook is not authenticated: tls_config.insecure_skip_verify', { webhook: name, kind });
    },
    async ask(payload, signal) {
      if (http === undefined) return failed('the gateway is not started');
      const uid = randomUUID();
      const nowMs = core.now();
      const body = payload.bytes(uid, nowMs);
      if (body.length > MAX_BODY_BYTES) return TOO_LARGE;
      if (waiting >= MAX_WAITING) return failed(`${MAX_WAITING} requests wait for it`);
      waiting += 1;
      try {
        const headers = { ...JSON_HEADERS, ...(await sign?.(body, nowMs)) };
        const answer = await http.send(url, { method: 'POST', headers, body, signal });
        const verdict = readVerdict(kind, uid, answer);
        if (typeof verdict === 'string') return failed(verdict);
        if (!verdict.allowed || verdict.patch.length === 0) outage.over();
        return verdict;
      } catch (cause) {
        return signal.aborted ? FAILED : failed(explainCause(cause));
      } finally {
        waiting -= 1;
      }
    },
    failed,
    worked: () => outage.over(),
    close: async () => http?.close(),
  };
}

const FAILED: NoVerdict = { failed: true };
const TOO_LARGE: NoVerdict = { tooLarge: true };
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

function certificatesOf({ tls_config: tls = {} }: WebhookSettings, setting: string) {
  const { ca_bundle_path: ca, client_cert_path: cert, client_key_path: key } = tls;
  const place = `${setting}.tls_config`;
  return {
    ...(ca === undefined ? {} : { ca: readCaBundle(ca, `${place}.ca_bundle_path`) }),
    ...(cert === undefined || key === undefined
      ? {}
      : { identity: { cert: pem(cert, `${place}.client_cert_path`), key: pem(key, `${place}.client_key_path`) } }),
    skipsVerification: tls.insecure_skip_verify === true,
  };
}

function pem(path: string, place: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${place}: ${path} cannot be read: ${explainCause(cause)}`);
  }
}
