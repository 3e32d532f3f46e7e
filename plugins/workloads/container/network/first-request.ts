import type { Socket } from 'node:net';

const HEAD_BYTES = 65_536;
const HEAD_MS = 30_000;
const END_OF_HEAD = '\r\n\r\n';
const HOST = /^host:[ \t]*([^\r\n]*?)[ \t]*$/im;
const OF_THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Whether the first request on a connection names this machine in `Host`; what was read is put back.
 *
 * A web page that leads its own name to 127.0.0.1 (DNS rebinding) sends that name, on connections of their own. So the first
 * request of a connection is enough.
 */
export async function namesThisMachine(socket: Socket): Promise<boolean> {
  const head = await readHead(socket);
  if (head === undefined) return false;
  socket.unshift(head);
  return OF_THIS_MACHINE.test(HOST.exec(head.toString('latin1'))?.[1] ?? '');
}

/** Everything up to the end of the first head, and what came with it; `undefined` when there is no such end within limits. */
function readHead(socket: Socket): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  let all = Buffer.alloc(0);
  const read = (): void => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) all = Buffer.concat([all, piece]);
    if (all.includes(END_OF_HEAD)) done(all);
    else if (all.length > HEAD_BYTES) done(undefined);
  };
  const end = (): void => done(undefined);
  const late = setTimeout(end, HEAD_MS);
  const done = (head: Buffer | undefined): void => {
    clearTimeout(late);
    socket.off('readable', read).off('end', end).off('close', end);
    resolve(head);
  };
  socket.on('readable', read).once('end', end).once('close', end);
  return promise;
}
