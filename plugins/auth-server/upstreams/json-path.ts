import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { jwtPayload } from './jwt-payload.ts';

/** A path into JSON: names of members, indexes of arrays, and the step that decodes a JWT. */
export type JsonPath = readonly PathStep[];

type PathStep = string | typeof DECODE_JWT;

const DECODE_JWT = Symbol('@upstreamjwt');
const MODIFIER = '@upstreamjwt';
/** One name, in which a backslash makes the next character a plain one; then the separator or the end. */
const STEP = /((?:[^\\.|]|\\.)+)([.|]|$)/gy;

/**
 * Parses a path such as `authed_user.id`, `teams.0.name`, `a\.b` or `access_token|@upstreamjwt|sub`; steps are separated by `.` or
 * `|`. Returns a problem for messages when it is invalid.
 */
export function parseJsonPath(text: string): JsonPath | { readonly problem: string } {
  const steps: PathStep[] = [];
  let end = 0;
  for (const [whole, name = '', separator] of text.matchAll(STEP)) {
    if (name.startsWith('@') && name !== MODIFIER) return { problem: `has a modifier other than ${MODIFIER}` };
    steps.push(name === MODIFIER ? DECODE_JWT : name.replace(/\\(.)/g, '$1'));
    end += whole.length;
    if (separator === '') return steps;
  }
  return { problem: `has no name at character ${end + 1}; expected a path such as user.id` };
}

/** A path that was checked before. @throws Error when it is invalid */
export function jsonPath(text: string): JsonPath {
  const parsed = parseJsonPath(text);
  if ('problem' in parsed) throw new Error(`path ${text}: ${parsed.problem}`);
  return parsed;
}

/** The value at a path; `undefined` when there is none. Never fails for any JSON. */
export function valueAt(root: JsonObject, path: JsonPath): JsonValue | undefined {
  let at: JsonValue | undefined = root;
  for (const step of path) {
    at = step === DECODE_JWT ? decodedJwt(at) : memberOf(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d{1,6}$/.test(name) ? (value[Number(name)] as JsonValue | undefined) : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function decodedJwt(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'string' ? jwtPayload(value) : undefined;
}
