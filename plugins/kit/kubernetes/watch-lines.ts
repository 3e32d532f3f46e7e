import { StringDecoder } from 'node:string_decoder';
import { ApiError } from './api.ts';
import { unreachable } from './requests.ts';

/** Longest event. An object has at most 1.5 MB in etcd; as JSON with its managed fields it can be larger. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/** Lines of a body. @throws ApiError when the connection fails or a line is too long */
export async function* linesOf(body: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let chars = 0;
  try {
    for await (const chunk of body) {
      const pieces = decoder.write(chunk as Buffer).split('\n');
      for (const [at, piece] of pieces.entries()) {
        parts.push(piece);
        chars += piece.length;
        if (chars > MAX_EVENT_CHARS) {
          throw new ApiError(
            0,
            'EventTooLarge',
            `cannot ${what}: an event is longer than ${MAX_EVENT_CHARS} characters`,
          );
        }
        if (at === pieces.length - 1) continue;
        const line = parts.join('');
        parts = [];
        chars = 0;
        if (line !== '') yield line;
      }
    }
  } catch (cause) {
    throw unreachable({ what }, cause);
  }
}
