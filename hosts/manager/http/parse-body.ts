/** An error of the parser, for {@link problemFromFault}. */
class JsonFault extends Error {
  readonly code = 'TOOLMGR_JSON';
  readonly statusCode = 400;
}

/**
 * Parses a JSON body; `undefined` when it is empty.
 * @throws JsonFault with line and column of a syntax error; for `__proto__` and `constructor.prototype`
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = decoded(body);
  try {
    return JSON.parse(text, refusePrototypes);
  } catch (cause) {
    if (cause instanceof JsonFault) throw cause;
    throw new JsonFault(`body: not JSON${place(text, cause as Error)}`);
  }
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body);
  } catch {
    throw new JsonFault('body: not UTF-8');
  }
}

function refusePrototypes(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new JsonFault('body: the member __proto__ is not allowed');
  return value;
}

/** V8 names the position; an end that comes too early has none. The text is not repeated: it may be secret. */
function place(text: string, { message }: Error): string {
  const found = /position (\d+)/.exec(message)?.[1];
  const at = found === undefined ? text.length : Number(found);
  const before = text.slice(0, at).split('\n');
  return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}${found === undefined ? ': it ends too early' : ''}`;
}
