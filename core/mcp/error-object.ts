import type { RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { foldCase } from '../json/ambiguous-names.ts';
import { joinParts, type Part } from '../json/byte-pieces.ts';
import type { RawObject } from '../json/raw-json.ts';
import { membersWithoutBraces } from './members-without-braces.ts';

/** A JSON-RPC error object: its code, message and data, then its other members unchanged. */
export function errorObject({ code, message, data, members }: WireError): Buffer {
  const parts: Part[] = [`{"code":${code},"message":${JSON.stringify(message)}`];
  if (data !== undefined) parts.push(',"data":', data);
  const others = members === undefined ? undefined : membersWithoutBraces(members);
  if (others !== undefined) parts.push(',', others);
  parts.push('}');
  return joinParts(parts);
}

/**
 * The members of an error object that JSON-RPC does not define, as a raw object; `undefined` when there are none.
 *
 * Members whose names differ from a defined one only by case are left out: a case-insensitive reader would use them
 * instead of the gateway's.
 */
export function otherErrorMembers(error: RawObject): RawJson | undefined {
  const others = error.omit({ has: (name) => DEFINED.has(name) || DEFINED.has(foldCase(name)) });
  return others.size === 0 ? undefined : others.toBytes();
}

/** JSON-RPC 2.0 §5.1, as written and case-folded. */
const NAMES = ['code', 'message', 'data'];
const DEFINED: ReadonlySet<string> = new Set([...NAMES, ...NAMES.map(foldCase)]);
