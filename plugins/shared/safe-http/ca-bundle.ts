import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { explainCause, GatewayFault } from '@toolmgr/core';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads a bundle of PEM certificates.
 * @throws GatewayFault PLAN_INVALID naming `where` when there is no such file or no certificate in it
 */
export async function readCaBundle(path: string, where: string): Promise<string> {
  try {
    const pem = await readFile(path, 'utf8');
    const blocks = pem.match(CERTIFICATE);
    if (blocks === null) throw new Error('it holds no PEM certificate');
    for (const block of blocks) new X509Certificate(block); // TLS itself would pass over a torn one in silence
    return blocks.join('\n');
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${where}: cannot use ${path}: ${explainCause(cause)}`, { cause });
  }
}
