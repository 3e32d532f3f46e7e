import { Duplex } from 'node:stream';

/**
 * An HTTP/2 stream as a connection of bytes. Text is encoded before it is passed on: Node.js 24 sends wrong bytes when a
 * stream of HTTP/2 gets text and buffers in one write, as an HTTP/1.1 server does.
 */
export function byteStream(stream: Duplex): Duplex {
  const bytes = new Duplex({
    read: () => void stream.resume(),
    write: (chunk: Buffer, _, done) => void stream.write(chunk, done),
    final: (done) => void stream.end(done),
    destroy(cause, done) {
      stream.destroy();
      done(cause);
    },
  });
  stream.on('data', (chunk: Buffer) => {
    if (!bytes.push(chunk)) stream.pause();
  });
  let hasEnded = false;
  stream.once('end', () => {
    hasEnded = true;
    bytes.push(null);
  });
  stream.on('error', (cause) => bytes.destroy(cause));
  stream.once('close', () => {
    if (!hasEnded) bytes.destroy(); // else what has arrived can still be read
  });
  return bytes;
}
