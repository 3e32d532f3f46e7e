import { hash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { redactedText } from '@toolmgr/plugins/kit/secrets';

/** Encodes untrusted texts as JSON: cut, secrets masked, and cached when they are likely to repeat. */
export interface RedactedTexts {
  /** `,"name":"text"`; empty without a text. */
  member(name: string, text: string | undefined, most: number): string;
  /** The members of an object without braces; texts are cut and masked. */
  members(given: JsonObject, most: number): string;
  /** The first characters of a text's SHA-256 in hex. */
  digest(text: string): string;
  /** An IP address as a JSON string; a mapped IPv4 address as IPv4. */
  address(text: string): string;
  /** Epoch milliseconds as RFC 3339 in UTC. */
  time(ms: number): string;
}

export function createRedactedTexts(): RedactedTexts {
  /** Names of tools, backends and clients repeat in every event. */
  const known = new Map<string, string>();
  let lastMs = Number.NaN;
  let lastTime = '';

  const quoted = (text: string, most: number): string => {
    const before = known.get(text);
    if (before !== undefined) return before;
    // Masked before cutting: a cut secret would not be recognised.
    const masked = redactedText(text.slice(0, most + MAX_REDACTED_CHARACTERS)).slice(0, most);
    const json = JSON.stringify(masked);
    if (masked === text && text.length <= SHORT) {
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(text, json);
    }
    return json;
  };

  return {
    member: (name, text, most) => (text === undefined ? '' : `,"${name}":${quoted(text, most)}`),
    members(given, most) {
      let json = '';
      for (const name in given) {
        const value = given[name];
        if (value === undefined) continue;
        const text = typeof value === 'string' ? quoted(value, most) : JSON.stringify(value);
        json += json === '' ? `"${name}":${text}` : `,"${name}":${text}`;
      }
      return json;
    },
    digest: cachedBy((text) => hash('sha256', text).slice(0, DIGEST_CHARACTERS)),
    address: cachedBy((text) => JSON.stringify(text.replace(IPV4_MAPPED, ''))),
    time(ms) {
      if (ms !== lastMs) {
        lastMs = ms;
        lastTime = new Date(ms).toISOString();
      }
      return lastTime;
    },
  };
}

/** Caches the results for up to {@link MAX_KNOWN} texts. */
function cachedBy(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, made);
    return made;
  };
}

const IPV4_MAPPED = /^::ffff:(?=\d+\.)/i;
const DIGEST_CHARACTERS = 16;
const MAX_KNOWN = 4096;
const SHORT = 128; // shorter than every maximum
const MAX_REDACTED_CHARACTERS = 4096; // a longer text is cut before it is masked
