import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClientCertificate } from '../contract/backend.ts';
import { explainCause, GatewayFault } from '../errors.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads a bundle of PEM certificates; used at startup.
 * @throws GatewayFault PLAN_INVALID naming `where` when the file is missing or contains no certificate
 */
export function readCaBundle(path: string, where: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    const blocks = pem.match(CERTIFICATE);
    if (blocks === null) throw new Error('it contains no PEM certificate');
    for (const block of blocks) new X509Certificate(block); // throws for an invalid certificate, which TLS would ignore
    return blocks.join('\n');
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${where}: cannot use ${path}: ${explainCause(cause)}`, { cause });
  }
}

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
