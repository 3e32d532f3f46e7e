// Whether a container engine answers, without the client of the engines: a process that only waits for one stays small.
import { existsSync } from 'node:fs';
import { type EngineSocket, engineSockets, namesEngine, type UnusableHost } from './engine-sockets.ts';

export { namesEngine };

// `import` reads every export of the module, and one of them loads Node's own undici: 60 ms and 14 MB
const { request } = process.getBuiltinModule('node:http');

const PING_MS = 2_000;

/** Whether one of the engines of this machine answers. Never throws; takes at most two seconds. */
export async function engineAnswers(env: NodeJS.ProcessEnv): Promise<boolean> {
  const sockets = engineSockets(env);
  if ('reason' in sockets) return false;
  const answers = await Promise.all(sockets.map(({ path }) => ping(path)));
  return answers.includes(true);
}

/**
 * `none`: no engine is installed. `silent`: one is installed or named by the environment, and none answers. Never throws; takes
 * at most two seconds.
 */
export async function engineState(env: NodeJS.ProcessEnv): Promise<'none' | 'silent' | 'answers'> {
  const sockets = engineSockets(env);
  if ('reason' in sockets) return 'silent';
  const answers = await Promise.all(sockets.map(({ path }) => ping(path)));
  if (answers.includes(true)) return 'answers';
  return sockets.some(isExpected) ? 'silent' : 'none';
}

/** A socket of this machine, and whether an engine answers there. */
export type EnginePing = EngineSocket & { readonly answers: boolean };

/** Every socket that exists or is named by a variable. Never throws; takes at most two seconds. */
export async function pingEngines(env: NodeJS.ProcessEnv): Promise<readonly EnginePing[] | UnusableHost> {
  const sockets = engineSockets(env);
  if ('reason' in sockets) return sockets;
  return Promise.all(
    sockets.filter(isExpected).map(async (socket) => ({ ...socket, answers: await ping(socket.path) })),
  );
}

function isExpected({ path, from }: EngineSocket): boolean {
  return from !== undefined || existsSync(path);
}

/** Docker and Podman both serve `/_ping`. */
function ping(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path: '/_ping', signal: AbortSignal.timeout(PING_MS) }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on('error', () => resolve(false));
    sent.end();
  });
}
