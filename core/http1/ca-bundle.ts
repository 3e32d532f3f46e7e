import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
