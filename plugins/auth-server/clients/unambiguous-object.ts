import { decodeObject, hasRepeatedMembers, type JsonObject, RawObject } from '@toolmgr/core';

const MAX_MEMBERS = 256; // of one object
const MAX_CONTAINERS = 256;

/** The JSON object of bytes; `undefined` for anything else, for repeated members and above the bounds. */
export function unambiguousObject(bytes: Buffer): JsonObject | undefined {
  try {
    const members = RawObject.parse(bytes, undefined, MAX_MEMBERS, MAX_CONTAINERS); // before the decoder: it has bounds
    const decoded = decodeObject(bytes);
    return decoded === undefined || hasRepeatedMembers(members, decoded) ? undefined : decoded;
  } catch {
    return undefined; // the message quotes the bytes
  }
}
