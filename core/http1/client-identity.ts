import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClientCertificate } from '../contract/backend.ts';
import { explainCause, GatewayFault } from '../errors.ts';

/** What a client shows to a server that demands a certificate; PEM. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads a client certificate and its key.
 * @throws GatewayFault PLAN_INVALID naming `where` when a file is missing or wrong, or when the key is of another certificate
 */
export function readClientIdentity({ certPath, keyPath }: ClientCertificate, where: string): ClientIdentity {
  try {
    const identity = { cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') };
    const isPair = new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key));
    if (!isPair) throw new Error('the key belongs to another certificate');
    return identity;
  } catch (cause) {
    const files = `${certPath} and ${keyPath}`;
    throw new GatewayFault('PLAN_INVALID', `${where}: cannot use ${files}: ${explainCause(cause)}`, { cause });
  }
}
