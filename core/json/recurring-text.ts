/**
 * Short ASCII texts that come again with every message: member names, header names, tool names. Each is made once and
 * found again by its bytes, which is cheaper than making it, and equal ones are the same string.
 *
 * One slot for each hash: another text of the same slot takes its place, so hostile input costs others only the making.
 */
export function recurringText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > MAX_LENGTH) return bytes.toString('latin1', start, end);
  let hash = length;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
  const known = slots[slot];
  if (known !== undefined && isSame(known, bytes, start, length)) return known;
  const text = bytes.toString('latin1', start, end);
  slots[slot] = text;
  return text;
}

const MAX_LENGTH = 64;
const SLOTS = 1024;
const slots: (string | undefined)[] = new Array(SLOTS).fill(undefined);

function isSame(text: string, bytes: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let n = 0; n < length; n++) if (text.charCodeAt(n) !== bytes[start + n]) return false;
  return true;
}
