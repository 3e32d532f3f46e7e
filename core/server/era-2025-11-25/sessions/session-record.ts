import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import { isObject } from '../../../json/json-value.ts';
import { LEGACY_VERSIONS } from '../../../mcp/versions.ts';
import type { Session } from './session.ts';

/** What another replica needs to serve a session. Contains no token and no caller name. */
export interface SessionRecord {
  /** See {@link callerDigest}. */
  readonly caller: string;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly openedAtMs: number;
}

/** A session as text for the store; `undefined` when capabilities and clientInfo are too large. */
export function recordText(session: Session): string | undefined {
  const { protocolVersion, capabilities, clientInfo, openedAtMs } = session;
  const caller = callerDigest(session.id, session.caller.key);
  const text = JSON.stringify({ caller, protocolVersion, capabilities, clientInfo, openedAtMs });
  return Buffer.byteLength(text) <= MAX_RECORD_BYTES ? text : undefined;
}

/** Parses a text of the store strictly; `undefined` for anything that {@link recordText} would not write. */
export function recordFromText(text: string): SessionRecord | undefined {
  if (text.length > MAX_RECORD_BYTES) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

/** The caller of a session as a SHA-256 that differs from session to session. */
export function callerDigest(id: string, callerKey: string): string {
  return createHash('sha256').update(`${id}\0${callerKey}`).digest('hex');
}

/** Whether a record belongs to this caller. Takes constant time. */
export function isBoundTo(record: SessionRecord, id: string, callerKey: string): boolean {
  return timingSafeEqual(Buffer.from(record.caller), Buffer.from(callerDigest(id, callerKey)));
}

/** Whether a text is a well-formed session id of any replica: only such texts become part of a key. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MAX_RECORD_BYTES = 65_536;

const object = z.custom<JsonObject>(isObject);
const schema = z.strictObject({
  caller: z.string().regex(/^[0-9a-f]{64}$/),
  protocolVersion: z.enum(LEGACY_VERSIONS),
  capabilities: object,
  clientInfo: object.optional().transform((info) => info),
  openedAtMs: z.int().min(0),
});
