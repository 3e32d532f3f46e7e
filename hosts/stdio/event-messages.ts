/**
 * The JSON-RPC messages of server-sent events, in order. Comments and events without a message are left out.
 *
 * Shape: `frames` are whole events as the core writes them: `event: message`, then the message as `data:` lines.
 */
export function* messagesOfEvents(frames: Buffer | string): Generator<Buffer> {
  const bytes = typeof frames === 'string' ? Buffer.from(frames) : frames;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(END, start);
    const event = bytes.subarray(start, end === -1 ? undefined : end);
    start = end === -1 ? bytes.length : end + END.length;
    const at = event.indexOf(MESSAGE);
    if (at === -1) continue;
    const data = event.subarray(at + MESSAGE.length);
    yield data.includes(LINE_FEED) ? Buffer.from(data.toString().replaceAll('\ndata: ', ' ')) : data;
  }
}

const END = Buffer.from('\n\n');
const MESSAGE = Buffer.from('event: message\ndata: ');
const LINE_FEED = 0x0a;
