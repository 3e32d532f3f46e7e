/**
 * Channels of an attached container. Each WebSocket message has the number of its channel as the first byte.
 *
 * Source: Kubernetes `remotecommand` subprotocols `v4.channel.k8s.io` and `v5.channel.k8s.io`; the second one adds `close`.
 */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;

/** In the order of preference. */
export const SUBPROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

/** Bytes of one message: proxies between limit their size. */
const PIECE_BYTES = 32_768;

/** The messages that carry a chunk to stdin. */
export function stdinMessages(chunk: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
    messages.push(Buffer.concat([STDIN, chunk.subarray(at, at + PIECE_BYTES)]));
  }
  return messages;
}

/** The message that ends stdin; only in `v5`. */
export const END_OF_STDIN = Buffer.from([CHANNEL.close, CHANNEL.stdin]);

const STDIN = Buffer.from([CHANNEL.stdin]);
