import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { until } from './until.ts';

const START_MS = 60_000;

/** A running moto server, with the API of AWS. */
export interface Moto extends AsyncDisposable {
  readonly url: string;
  /** Sends a form without a signature to the service `host` of AWS, e.g. `iam`. Returns the status. */
  unsigned(service: string, form: Readonly<Record<string, string>>): Promise<number>;
}

/** Starts the rig in `folder`. The first `unsigned` actions need no signature; all later ones do. */
export async function startMoto(folder: string, unsigned: number): Promise<Moto> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const python = join(folder, 'venv', 'bin', 'python');
  const server = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, INITIAL_NO_AUTH_ACTION_COUNT: String(unsigned) },
  });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const self: Moto = {
    url,
    async unsigned(service, form) {
      const scope = `Credential=none/20260101/us-east-1/${service}/aws4_request`;
      const headers = { authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none` };
      return (await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })).status;
    },
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL');
      await ended;
    },
  };
  try {
    await until(() => isListening(port), START_MS); // a request would count as an unsigned action
  } catch (cause) {
    await self[Symbol.asyncDispose]();
    throw cause;
  }
  return self;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
