/** A piece of a message: text that is still to be encoded, or bytes that pass as they are. */
export type Part = string | Buffer;

/** Joins parts into one buffer with one allocation. */
export function joinParts(parts: readonly Part[]): Buffer {
  let size = 0;
  for (const part of parts) size += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  const joined = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) at += typeof part === 'string' ? joined.write(part, at) : part.copy(joined, at);
  return joined;
}
