export const OK = 'HTTP/1.1 200 OK\r\n';

/** One response, and what undici does with it where that is not to refuse it as the core's own client does. */
export interface AmbiguousResponse {
  readonly what: string;
  readonly bytes: string;
  readonly undici?: { readonly does: 'accept' | 'wait'; readonly why: string };
}

/** Responses that two readers could take for different messages, or that break HTTP/1.1 otherwise. */
export const AMBIGUOUS: readonly AmbiguousResponse[] = [
  { what: 'two lengths that differ', bytes: `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx` },
  { what: 'a list of lengths', bytes: `${OK}Content-Length: 1, 1\r\n\r\nx` },
  { what: 'a negative length', bytes: `${OK}Content-Length: -1\r\n\r\n` },
  { what: 'a length with a sign', bytes: `${OK}Content-Length: +1\r\n\r\nx` },
  { what: 'a length in hex', bytes: `${OK}Content-Length: 0x1\r\n\r\nx` },
  { what: 'a length beyond what a number holds', bytes: `${OK}Content-Length: 99999999999999999999\r\n\r\nx` },
  {
    what: 'a length and a transfer coding',
    bytes: `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  },
  {
    what: 'an unknown transfer coding',
    bytes: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    undici: {
      does: 'accept',
      why: 'llhttp takes any coding list that ends with chunked, and leaves the inner coding undone',
    },
  },
  {
    what: 'two transfer codings',
    bytes: `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    undici: { does: 'accept', why: 'llhttp takes a second chunked for the first' },
  },
  { what: 'a space before the colon', bytes: `${OK}Content-Length : 1\r\n\r\nx` },
  { what: 'a header over two lines', bytes: `${OK}X: a\r\n b\r\nContent-Length: 1\r\n\r\nx` },
  { what: 'a lone line feed in a header', bytes: `${OK}X: a\nContent-Length: 1\r\n\r\nx` },
  { what: 'a lone carriage return in a header', bytes: `${OK}X: a\rb\r\nContent-Length: 1\r\n\r\nx` },
  { what: 'a NUL in a header', bytes: `${OK}X: a\0\r\nContent-Length: 1\r\n\r\nx` },
  { what: 'a line without a colon', bytes: `${OK}nonsense\r\n\r\n` },
  { what: 'another protocol', bytes: 'SSH-2.0-OpenSSH_9.6\r\n\r\n' },
  { what: 'HTTP/2 in the clear', bytes: 'HTTP/2 200 OK\r\n\r\n' },
  { what: 'a status of four digits', bytes: 'HTTP/1.1 2000 OK\r\n\r\n' },
  { what: 'an upgrade that was not asked for', bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n' },
  { what: 'endless interim answers', bytes: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17) },
  { what: 'a head without end', bytes: `${OK}X: ${'x'.repeat(40_000)}` },
  { what: 'a chunk without a size', bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n\r\nx` },
  { what: 'a chunk size with a sign', bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\nx` },
  { what: 'a chunk longer than its size', bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n` },
  {
    what: 'a chunk line that ends with a line feed alone',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n`,
  },
  {
    what: 'a chunk extension without end',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(2_000)}`,
    undici: { does: 'wait', why: 'llhttp skips extensions of any length; the time limit of the request ends it' },
  },
  {
    what: 'trailers without end',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(70)}`,
    undici: {
      does: 'wait',
      why: 'undici bounds the bytes of trailers, not their number; the time limit of the request ends it',
    },
  },
];
