/** Splits a body into lines without their ends while it arrives. A line over the bound is cut there. */
export async function* linesOf(body: ReadableStream<Uint8Array>, maxLine = MAX_LINE): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split(/\r?\n/);
      rest = (parts.pop() ?? '').slice(0, maxLine);
      for (const part of parts) yield part.slice(0, maxLine);
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const MAX_LINE = 65_536; // characters
