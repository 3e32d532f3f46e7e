import { type FileHandle, open } from 'node:fs/promises';
import { GatewayFault, isObject, parsedJson } from '@toolmgr/core';
import { type ChainEnd, hashOfLine, isPlace } from '@toolmgr/plugins/kit/audit-chain';

/** Bytes that are read at a time, from the end. */
const PIECE = 65_536;
const MAX_LINE_BYTES = 67_108_864;
const LINE_FEED = 0x0a;

/**
 * Where the chain of a file continues: after its last line, which may be cut or without a place in the chain. A cut line gets its line
 * break, so that the next one stands alone.
 * @throws GatewayFault PLUGIN_FAILED when the last line is over 64 MiB; what the file system throws
 */
export async function chainEndOf(logFile: string): Promise<ChainEnd> {
  await using file = await open(logFile, 'a+', 0o600);
  const { size } = await file.stat();
  if (size === 0) return { next: 0, previous: '' };
  const { lines, isCut } = await lastLines(file, size, logFile);
  if (isCut) await file.write('\n');
  const numbers = lines.map(numberOf).filter((n) => n !== undefined);
  return { next: (numbers.at(-1) ?? -1) + 1, previous: hashOfLine(lines.at(-1) ?? '') };
}

/** The last line, and the one before it when the last is cut: it has the number. */
async function lastLines(
  file: FileHandle,
  size: number,
  logFile: string,
): Promise<{ readonly lines: readonly Buffer[]; readonly isCut: boolean }> {
  let tail = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(Math.max(PIECE, tail.length), from); // doubles, so that bytes are copied twice on average
    from -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, from);
    tail = Buffer.concat([piece, tail]);
    const isCut = tail.at(-1) !== LINE_FEED;
    const wanted = isCut ? 2 : 1;
    const lines = splitLines(isCut ? tail : tail.subarray(0, -1));
    if (lines.length > wanted || from === 0) return { lines: lines.slice(-wanted), isCut };
    if (tail.length > MAX_LINE_BYTES) break;
  }
  throw new GatewayFault('PLUGIN_FAILED', `audit.chain: the last line of ${logFile} is longer than 64 MiB`);
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  lines.push(bytes.subarray(start));
  return lines;
}

function numberOf(line: Buffer): number | undefined {
  const event = parsedJson(line.toString('utf8'));
  const chain = isObject(event) ? event.chain : undefined;
  return isObject(chain) && isPlace(chain.n) ? chain.n : undefined;
}
