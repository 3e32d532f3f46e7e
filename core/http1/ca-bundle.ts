import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { explainCause, GatewayFault } from '../errors.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads a bundle of PEM certificates, once, at a start.
 * @throws GatewayFault PLAN_INVALID naming `where` when there is no such file or no certificate in it
 */
export function readCaBundle(path: string, where: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    const blocks = pem.match(CERTIFICATE);
    if (blocks === null) throw new Error('it holds no PEM certificate');
    for (const block of blocks) new X509Certificate(block); // throws for a damaged one, which TLS would ignore
    return blocks.join('\n');
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${where}: cannot use ${path}: ${explainCause(cause)}`, { cause });
  }
}
