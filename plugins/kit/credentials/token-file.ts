import { readFileSync } from 'node:fs';
import { explainCause, GatewayFault, type Secret } from '@toolmgr/core';
import { secretOf } from '../secrets/secret.ts';

const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1

/**
 * Reads the bearer token in a file, without white space around it.
 * @throws GatewayFault SECRET_MISSING naming `where` and the file, when there is none or nothing a header can carry
 */
export function readTokenFile(path: string, where: string): Secret {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new GatewayFault('SECRET_MISSING', `${where}: ${path} cannot be read: ${explainCause(cause)}`);
  }
  if (BEARER_TOKEN.test(text)) return secretOf(text);
  throw new GatewayFault('SECRET_MISSING', `${where}: ${path} holds no bearer token (RFC 6750 §2.1)`);
}
