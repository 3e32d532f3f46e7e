import type { Inbound } from '@toolmgr/core';
import { type AssertionRequest, JWT_BEARER } from './jwt-bearer.ts';

const MAX_BODY = 64 * 1024;
const CREDENTIALS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];

/**
 * A token request with the grant of RFC 7523 and without any client credential; `undefined` for every other request, which the
 * OAuth library answers.
 */
export function assertionRequestOf({ headers }: Inbound, body: Buffer): AssertionRequest | undefined {
  if (body.length > MAX_BODY || headers.authorization !== undefined) return undefined;
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) return undefined;
  const form = new URLSearchParams(body.toString('utf8'));
  if (form.getAll('grant_type').join(' ') !== JWT_BEARER || CREDENTIALS.some((name) => form.has(name)))
    return undefined;
  return { assertion: form.getAll('assertion'), resource: form.getAll('resource'), scope: form.getAll('scope') };
}
