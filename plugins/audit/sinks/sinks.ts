import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type Core, GatewayFault } from '@toolmgr/core';
import { readSecretBytes } from '@toolmgr/plugins/kit/secrets';
import type { AuditConfig } from '../config.ts';
import { openChainedSink } from './chained-file.ts';
import { openSink, type Sink } from './file.ts';
import { otlpSink, webhookSink } from './http.ts';
import { syslogSink } from './syslog.ts';

/** A receiver besides `logFile`. */
export interface RemoteSink {
  /** For the log. */
  readonly name: string;
  open(core: Core): Promise<Sink>;
}

/** The receivers that the configuration names. Each has a queue of its own, so that none delays another. */
export function sinksOf({ syslog, otlp, webhook, component }: AuditConfig): readonly RemoteSink[] {
  return [
    ...(syslog === undefined ? [] : [{ name: 'syslog', open: async () => syslogSink(syslog) }]),
    ...(otlp === undefined ? [] : [{ name: 'otlp', open: (core: Core) => otlpSink(otlp, component, core) }]),
    ...(webhook === undefined ? [] : [{ name: 'webhook', open: (core: Core) => webhookSink(webhook, core) }]),
  ];
}

/** The sink of `logFile`. @throws GatewayFault PLAN_INVALID for a key that cannot sign, and as `openSink` */
export async function openFile({ logFile, chain, component }: AuditConfig, core: Core): Promise<Sink> {
  if (chain === undefined) return openSink(logFile, core);
  return openChainedSink(logFile, core, { component, key: await signingKeyOf(chain, core) });
}

/** @throws GatewayFault PLAN_INVALID for a key that cannot sign, and like `readSecretBytes` */
async function signingKeyOf(
  { signingKeyRef: reference }: NonNullable<AuditConfig['chain']>,
  { slots }: Core,
): Promise<KeyObject | undefined> {
  if (reference === undefined) return undefined;
  const pem = await readSecretBytes(slots, reference, SIGNING_KEY);
  const key = readKey(pem);
  if (key !== undefined && SIGNING.has(key.asymmetricKeyType ?? '')) return key;
  throw new GatewayFault(
    'PLAN_INVALID',
    `${SIGNING_KEY}: expected the PEM of a private key: Ed25519, EC or RSA, such as openssl genpkey -algorithm ed25519 writes`,
  );
}

const SIGNING_KEY = 'audit.chain.signingKeyRef';
const SIGNING: ReadonlySet<string> = new Set(['ed25519', 'ec', 'rsa']);

function readKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined; // the cause may quote the key
  }
}
