import { UsageError } from '../../shared/usage-error.ts';

/** The text of a stream until its end. @throws UsageError when it is larger than `maxBytes` or not UTF-8 */
export async function readAll(stream: AsyncIterable<Buffer | string>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new UsageError(`stdin has more than ${maxBytes} bytes`);
    chunks.push(Buffer.from(chunk));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError('stdin is not UTF-8 text');
  }
}
