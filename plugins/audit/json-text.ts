import { hash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { redactedText } from '../shared/redact.ts';

/** Makes the JSON of texts from outside: cut, their secrets masked, and remembered where they are likely to come again. */
export interface Texts {
  /** `,"name":"text"`; nothing for an absent text. */
  member(name: string, text: string | undefined, most: number): string;
  /** The members of an object without its braces; texts among them are cut and masked. */
  members(given: JsonObject, most: number): string;
  /** The beginning of a text's SHA-256, in hex. */
  digest(text: string): string;
  /** An IP address as a JSON string; a mapped one as the IPv4 address that it is. */
  address(text: string): string;
  /** Epoch milliseconds as RFC 3339 in UTC. */
  time(ms: number): string;
}

export function createTexts(): Texts {
  /** The same names of tools, backends and clients come in every line. */
  const known = new Map<string, string>();
  let lastMs = Number.NaN;
  let lastTime = '';

  const quoted = (text: string, most: number): string => {
    const before = known.get(text);
    if (before !== undefined) return before;
    // Masked first: a secret that is cut has no shape any more.
    const masked = redactedText(text.slice(0, most + LOOK_AHEAD)).slice(0, most);
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
    digest: remembered((text) => hash('sha256', text).slice(0, DIGEST_CHARACTERS)),
    address: remembered((text) => JSON.stringify(text.replace(IPV4_MAPPED, ''))),
    time(ms) {
      if (ms !== lastMs) {
        lastMs = ms;
        lastTime = new Date(ms).toISOString();
      }
      return lastTime;
    },
  };
}

/** The same with what it made for up to {@link MAX_KNOWN} texts kept. */
function remembered(make: (text: string) => string): (text: string) => string {
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
const SHORT = 128; // under every cut
const LOOK_AHEAD = 4096; // a longer text is cut before it is looked at
