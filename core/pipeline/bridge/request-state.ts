import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Caller } from '../../contract/caller.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../json/json-value.ts';

/** Content of a sealed `requestState`. */
export interface RoundState {
  /** Correlation id of the call. */
  readonly callId: string;
  /** Number of the next round, 2 or more. */
  readonly round: number;
  /** The backend of the call; a retry is sent to it only. */
  readonly backend: string;
  /** The backend's own opaque state. */
  readonly inner?: string;
  /** Handle of a call that is suspended in this process. */
  readonly parked?: string;
  /** A link of the gateway was sent, not a request of the backend. */
  readonly linkSent?: boolean;
}

/** A call that resumes one suspended in this process. */
export interface ResumingCall {
  /** Handle of the suspended call. */
  readonly parked?: string;
}

/** What a sealed state is bound to: it is valid only for the same caller, method, target and arguments. */
export interface StateBinding {
  readonly caller: Caller;
  readonly method: string;
  readonly name: string;
  /** Decoded arguments; the order of keys is ignored. */
  readonly arguments: JsonObject;
}

/** Seals and opens `requestState` (MCP 2026-07-28, input required: state is untrusted until verified). */
export interface StateSeal {
  seal(state: RoundState, binding: StateBinding): string;
  /** `undefined` for anything tampered with, expired, or sealed for another binding. */
  open(sealed: string, binding: StateBinding): RoundState | undefined;
}

/**
 * AES-256-GCM with a key derived once from `secret`; the binding is authenticated with every state.
 *
 * Without a secret a random one is used: then states are invalid after a restart and on other replicas.
 */
export function createStateSeal(
  secret: string | undefined,
  ttlMs: number,
  maxBytes: number,
  now: () => number,
): StateSeal {
  const key = Buffer.from(hkdfSync('sha256', secret ?? randomBytes(32), '', 'toolmgr requestState', 32));
  return {
    seal(state, binding) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(boundBytes(binding));
      const text = JSON.stringify({ ...state, expiresAtMs: now() + ttlMs });
      const sealed = Buffer.concat([VERSION, iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return sealed.toString('base64url');
    },
    open(sealed, binding) {
      if (sealed.length > maxBytes) return undefined;
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length <= VERSION.length + IV_BYTES + TAG_BYTES || bytes[0] !== VERSION[0]) return undefined;
      if (bytes.toString('base64url') !== sealed) return undefined; // canonical encoding only
      const iv = bytes.subarray(VERSION.length, VERSION.length + IV_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(boundBytes(binding));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(VERSION.length + IV_BYTES, -TAG_BYTES), undefined, 'utf8');
        return stateFrom(JSON.parse(text + decipher.final('utf8')), now());
      } catch {
        return undefined; // invalid tag: another key, caller or call
      }
    },
  };
}

const VERSION = Buffer.from([1]);
const IV_BYTES = 12; // NIST SP 800-38D §8.2
const TAG_BYTES = 16;

function stateFrom(value: unknown, nowMs: number): RoundState | undefined {
  if (!isObject(value) || typeof value.expiresAtMs !== 'number' || value.expiresAtMs <= nowMs) return undefined;
  const { callId, round, backend, inner, parked, linkSent } = value;
  if (typeof callId !== 'string' || typeof round !== 'number' || typeof backend !== 'string') return undefined;
  return {
    callId,
    round,
    backend,
    ...(typeof inner === 'string' ? { inner } : {}),
    ...(typeof parked === 'string' ? { parked } : {}),
    ...(linkSent === true ? { linkSent } : {}),
  };
}

function boundBytes(binding: StateBinding): Buffer {
  const text = [binding.caller.key, binding.method, binding.name, canonical(binding.arguments)];
  return createHash('sha256').update(JSON.stringify(text)).digest();
}

/** JSON with sorted keys: a retry may contain the same arguments in another order. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
