import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { explainCause, GatewayFault, type Slots } from '@toolmgr/core';
import { readSecret } from './read-secret.ts';

/** Headers that prove who sent a request, and when: `x-toolmgr-timestamp` and `x-toolmgr-signature`, see {@link signatureOf}. */
export type Sign = (body: Buffer, nowMs: number) => Promise<Readonly<Record<string, string>>>;

const MAX_SECRET_BYTES = 64 * 1024;

/** `sha256=` and the HMAC-SHA256, in hex, of the time in Unix seconds, a dot and the body. */
export function signatureOf(key: KeyObject, seconds: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex')}`;
}

/**
 * Makes the signer of requests to a webhook. A named secret is read once; a file is read for each request, so that its content can be
 * replaced at any time. `setting` is for errors.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE
 */
export async function createSigner(
  slots: Pick<Slots, 'secretSources'>,
  secret: { readonly file: string } | { readonly name: string },
  setting: string,
): Promise<Sign> {
  if ('file' in secret) {
    await keyFromFile(secret.file, setting);
    return async (body, nowMs) => headersOf(await keyFromFile(secret.file, setting), body, nowMs);
  }
  const key = createSecretKey(Buffer.from((await readSecret(slots, secret.name, setting)).reveal()));
  return async (body, nowMs) => headersOf(key, body, nowMs);
}

function headersOf(key: KeyObject, body: Buffer, nowMs: number): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(nowMs / 1000));
  return { 'x-toolmgr-timestamp': seconds, 'x-toolmgr-signature': signatureOf(key, seconds, body) };
}

/** The secret in a file, without white space around it. */
async function keyFromFile(file: string, setting: string): Promise<KeyObject> {
  const fail = (why: string): never => {
    throw new GatewayFault('SECRET_MISSING', `${setting}: ${file} ${why}`);
  };
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_SECRET_BYTES) return fail(`is larger than ${MAX_SECRET_BYTES} bytes`);
    text = (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    if (cause instanceof GatewayFault) throw cause;
    return fail(`cannot be read: ${explainCause(cause)}`);
  }
  return text === '' ? fail('is empty') : createSecretKey(Buffer.from(text));
}
