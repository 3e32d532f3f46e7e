import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { isObject, type JsonObject, type JsonValue, parsedJson } from '@toolmgr/core';
import { UsageError } from '../shared/usage-error.ts';
import { readLines, TOO_LONG } from '../stdio/read-lines.ts';

/** One line of an audit file. */
export interface AuditFileLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Without the line break; empty for a line over 16 MiB. */
  readonly text: Buffer;
}

const MAX_LINE_BYTES = 16 * 1_048_576;

/**
 * The lines of audit files, one after the other; `.gz` files are unpacked.
 * @throws UsageError naming a file that cannot be read, or has no line of an audit
 */
export async function* auditLines(files: readonly string[]): AsyncGenerator<AuditFileLine> {
  for (const file of files) yield* linesOf(file);
}

async function* linesOf(file: string): AsyncGenerator<AuditFileLine> {
  let line = 0;
  let isAudit = false;
  try {
    for await (const text of readLines(bytesOf(file), MAX_LINE_BYTES)) {
      line += 1;
      const bytes = text === TOO_LONG ? Buffer.alloc(0) : text;
      isAudit ||= bytes.includes('"msg":"audit_');
      yield { file, line, text: bytes };
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new UsageError(`${file} cannot be read (${code})`);
  }
  if (line > 0 && !isAudit) throw new UsageError(`${file} is no audit file: it has no line of an audit event`);
}

function bytesOf(file: string): AsyncIterable<Buffer> {
  const stream = createReadStream(file);
  if (!file.endsWith('.gz')) return stream;
  const unpacked = createGunzip();
  stream.on('error', (cause) => unpacked.destroy(cause));
  return stream.pipe(unpacked);
}

/** The event of a line; `undefined` for a line that is no JSON object. */
export function eventOf({ text }: AuditFileLine): JsonObject | undefined {
  const event = parsedJson(text.toString('utf8'));
  return isObject(event) ? event : undefined;
}

/** The value at a path of names with dots between them. */
export function memberAt(event: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = event;
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** The files, each after its rotated parts: `audit.log-20261127`, `audit.log.2.gz` and `audit.log.1` before `audit.log`. */
export async function withRotatedParts(files: readonly string[]): Promise<readonly string[]> {
  return (await Promise.all(files.map(partsOf))).flat();
}

async function partsOf(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const name = basename(file);
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((each) => each.startsWith(name) && ROTATED.test(each.slice(name.length)));
  const dated = await Promise.all(parts.map(async (part) => ({ part, ms: (await stat(join(folder, part))).mtimeMs })));
  const ordered = dated.sort((a, b) => a.ms - b.ms || a.part.localeCompare(b.part));
  return [...ordered.map(({ part }) => join(folder, part)), file];
}

/** What rotation adds to a name. */
const ROTATED = /^[.-]\d[\dTZ:-]*(?:\.gz)?$/;
