import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Bytes of the path of a Unix socket, without the final zero: `sun_path` has 108 on Linux and 104 elsewhere. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const CONNECT_MS = 2_000;
const PIPE = '\\\\.\\pipe\\';

/** Whether a place is a named pipe of Windows. */
export function isPipe(socket: string): boolean {
  return socket.startsWith(PIPE);
}

/**
 * Where the socket of a gateway is made: in `folder`; in a new folder under `XDG_RUNTIME_DIR` or the temporary folder when that
 * path is too long for a socket; a named pipe on Windows. A new folder can be opened by its user only.
 */
export async function socketPlace(
  folder: string,
  id: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  if (process.platform === 'win32') return `${PIPE}toolmgr-${id}`;
  const usual = join(folder, `${id}.sock`);
  if (fits(usual)) return usual;
  const { XDG_RUNTIME_DIR: runtime = '' } = env;
  for (const base of [runtime, tmpdir(), '/tmp']) {
    if (!isAbsolute(base) || !fits(join(base, 'toolmgr-XXXXXX', 'control.sock'))) continue;
    const made = await mkdtemp(join(base, 'toolmgr-')).catch(() => undefined);
    if (made !== undefined) return join(made, 'control.sock');
  }
  throw new Error(`no folder has a path short enough for a socket (${MAX_PATH_BYTES} bytes)`);
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES;
}

/** Whether something accepts connections at a socket. */
export function accepts(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    const end = (answer: boolean) => () => {
      connection.destroy();
      resolve(answer);
    };
    connection.setTimeout(CONNECT_MS, end(false)).once('connect', end(true)).once('error', end(false));
  });
}
