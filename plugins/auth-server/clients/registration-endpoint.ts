import type { RouteAnswer } from '@toolmgr/core';
import type { Report } from '../report.ts';
import type { AddressLimit } from './address-limit.ts';
import { isRefusal, type MetadataRefusal } from './client-metadata.ts';
import type { RegisteredClients } from './registered-clients.ts';
import { type RegistrationRules, readRegistration } from './registration-request.ts';
import { unambiguousObject } from './unambiguous-object.ts';

const MAX_BODY = 64 * 1024;
const FULL_RETRY_S = 3600;
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' } as const;

/**
 * Answers `POST /oauth/register` (RFC 7591): 201 with the metadata, 400 with an OAuth error, 413 for a large body, 429 above
 * the limit of the client's network, 503 when it is full. Both last ones have `Retry-After`.
 */
export function registrationEndpoint(
  clients: RegisteredClients,
  rules: RegistrationRules,
  limit: AddressLimit,
  report: Report,
): RouteAnswer {
  return async (inbound, body, responder) => {
    const send = (status: number, value: object, headers: Readonly<Record<string, string>> = {}): void =>
      responder.send(status, { ...HEADERS, ...headers }, JSON.stringify(value));
    const waitS = limit.take(inbound.remoteAddress);
    if (waitS !== undefined) return send(429, TOO_MANY, { 'retry-after': String(waitS) });
    if (body.length > MAX_BODY) return send(413, invalid(`expected a body of at most ${MAX_BODY} bytes`));
    if (!JSON_TYPE.test(inbound.headers['content-type'] ?? '')) return send(400, invalid('expected application/json'));
    const given = unambiguousObject(body);
    if (given === undefined) return send(400, invalid('expected a JSON object without repeated members'));
    const metadata = readRegistration(given, rules);
    if (isRefusal(metadata)) return send(400, { error: metadata.error, error_description: metadata.description });
    const client = await clients.add(metadata);
    if (client === undefined) return send(503, FULL, { 'retry-after': String(FULL_RETRY_S) });
    report({ change: 'client_registered', outcome: 'success', client: client.id, inbound });
    const secret = client.secret === undefined ? {} : { client_secret: client.secret, client_secret_expires_at: 0 };
    send(201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdMs / 1000),
      ...secret,
      ...metadata,
    });
  };
}

const TOO_MANY = { error: 'temporarily_unavailable', error_description: 'too many registrations from this network' };
const FULL = { error: 'temporarily_unavailable', error_description: 'too many clients are registered' };

function invalid(description: string): {
  readonly error: MetadataRefusal['error'];
  readonly error_description: string;
} {
  return { error: 'invalid_client_metadata', error_description: description };
}
