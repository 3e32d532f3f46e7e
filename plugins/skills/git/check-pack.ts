import { inflateSync } from 'node:zlib';
import { LIMITS } from '../limits.ts';

/** A repository is larger than the limits, or its pack is not valid. */
export class PackRefused extends Error {}

const HEADER_BYTES = 12;
const OFS_DELTA = 6;
const REF_DELTA = 7;
const ID_BYTES = 20;

/**
 * Checks the sizes of the objects in a pack before a library reads it: what they inflate to, and what deltas make. The library
 * has no bounds of its own.
 *
 * Source: git, gitformat-pack.
 * @throws PackRefused
 */
export function checkPack(pack: Buffer): void {
  if (pack.length < HEADER_BYTES + ID_BYTES || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2)
    throw new PackRefused('the server did not send a pack of version 2');
  const count = pack.readUInt32BE(8);
  if (count > LIMITS.gitObjects) throw new PackRefused(`the repository has more than ${LIMITS.gitObjects} objects`);
  let place = HEADER_BYTES;
  let total = 0;
  for (let index = 0; index < count; index++) {
    const object = readObject(pack, place);
    place = object.end;
    total += object.bytes;
    if (total > LIMITS.extractedBytes)
      throw new PackRefused(`the files of the repository are larger than ${LIMITS.extractedBytes / 1024 ** 2} MB`);
  }
  if (place !== pack.length - ID_BYTES) throw new PackRefused('the pack of the server is not complete');
}

/** One object: where it ends, and how many bytes it needs in memory. */
function readObject(pack: Buffer, start: number): { readonly end: number; readonly bytes: number } {
  let place = start;
  const next = (): number => {
    const byte = pack[place++];
    if (byte === undefined) throw new PackRefused('the pack of the server is cut');
    return byte;
  };
  let byte = next();
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; byte & 0x80; factor *= 128) {
    byte = next();
    size += (byte & 0x7f) * factor;
    if (size > LIMITS.extractedBytes) throw tooLarge();
  }
  if (type === OFS_DELTA) {
    do byte = next();
    while (byte & 0x80);
  } else if (type === REF_DELTA) place += ID_BYTES;
  const { data, used } = inflated(pack.subarray(place), size);
  const made = type === OFS_DELTA || type === REF_DELTA ? deltaSize(data) : 0;
  return { end: place + used, bytes: size + made };
}

function inflated(bytes: Buffer, size: number): { readonly data: Buffer; readonly used: number } {
  try {
    const { buffer, engine } = inflateSync(bytes, { info: true, maxOutputLength: Math.max(size, 1) }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (buffer.length === size) return { data: buffer, used: engine.bytesWritten };
  } catch {
    // the message of zlib says nothing about the repository
  }
  throw new PackRefused('the pack of the server has an object with a wrong size');
}

/** The size that a delta makes: its second number. */
function deltaSize(data: Buffer): number {
  let place = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = data[place++];
      if (byte === undefined) throw new PackRefused('the pack of the server has a delta that is cut');
      value += (byte & 0x7f) * factor;
      if (value > LIMITS.extractedBytes) throw tooLarge();
      if ((byte & 0x80) === 0) return value;
    }
  };
  number();
  return number();
}

function tooLarge(): PackRefused {
  return new PackRefused(`the repository has a file larger than ${LIMITS.extractedBytes / 1024 ** 2} MB`);
}
