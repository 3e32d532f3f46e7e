import { gzipSync } from 'node:zlib';

/** One entry of an archive that is built byte by byte, so that it may break every rule. */
export interface TarEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Type flag, e.g. `0` file, `2` symbolic link, `x` pax header. Default `0`. */
  readonly type?: string;
  readonly link?: string;
  readonly mode?: number;
  /** Instead of the length of the content. */
  readonly size?: number;
  /** Instead of the right checksum. */
  readonly checksum?: number;
}

const BLOCK = 512;

/** Makes an archive. Source: POSIX.1-2001 pax, "ustar Interchange Format". */
export function tarBytes(
  entries: readonly TarEntry[],
  more: { readonly cutAt?: number; readonly hasEnd?: boolean } = {},
): Buffer {
  const end = more.hasEnd === false ? [] : [Buffer.alloc(2 * BLOCK)];
  const all = Buffer.concat([...entries.flatMap(blocksOf), ...end]);
  return more.cutAt === undefined ? all : all.subarray(0, more.cutAt);
}

/** The archive with gzip, as a layer has it. */
export function layerBytes(entries: readonly TarEntry[], more: Parameters<typeof tarBytes>[1] = {}): Buffer {
  return gzipSync(tarBytes(entries, more));
}

/** A pax header with records, for the entry after it. */
export function paxEntry(records: Readonly<Record<string, string>>): TarEntry {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = rest.length;
    while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
    return `${length}${rest}`;
  });
  return { name: 'pax', type: 'x', content: lines.join('') };
}

function blocksOf({
  name,
  content = '',
  type = '0',
  link = '',
  mode = 0o644,
  size,
  checksum,
}: TarEntry): readonly Buffer[] {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(header, 0, 0, 100);
  octal(header, 100, 8, mode);
  octal(header, 108, 8, 0);
  octal(header, 116, 8, 0);
  octal(header, 124, 12, size ?? bytes.length);
  octal(header, 136, 12, 0);
  header.write(type, 156, 'latin1');
  header.write(link, 157, 100, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.fill(' ', 148, 156);
  octal(header, 148, 7, checksum ?? header.reduce((sum, byte) => sum + byte, 0));
  return [header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
}

function octal(header: Buffer, start: number, length: number, value: number): void {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, start, 'latin1');
}
