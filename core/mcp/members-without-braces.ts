import type { RawJson } from '../contract/json.ts';

/** The members of a raw object without its braces; `undefined` when there are none. */
export function membersWithoutBraces(object: RawJson): Buffer | undefined {
  const open = object.indexOf(0x7b);
  const close = object.lastIndexOf(0x7d);
  const inner = object.subarray(open + 1, close);
  return inner.every(isSpace) ? undefined : inner;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
