import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { Spawn } from '../backend/create-manager.ts';
import type { FakeServer } from './fake-server.ts';

/** Prefix of program names that {@link fakeSpawn} handles. */
export const FAKE_PROGRAM = 'fake-server:';

/**
 * Starts fake servers in place of the programs of stdio backends: streams in this process. Programs without the prefix
 * are started as real ones.
 */
export function fakeSpawn(servers: ReadonlyMap<string, FakeServer>): Spawn {
  return (file, args, options) => {
    if (!file.startsWith(FAKE_PROGRAM)) return spawn(file, args, options);
    const server = servers.get(file.slice(FAKE_PROGRAM.length));
    if (server === undefined) throw new Error(`no fake server is named ${file}`);
    return fakeProcess(server);
  };
}

function fakeProcess(server: FakeServer): ChildProcess {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const child = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    stderr,
    pid: undefined,
    kill: () => exit('SIGTERM'),
  });
  const connection = server.converse((line) => stdout.write(line));
  let isOver = false;
  const exit = (signal: NodeJS.Signals | null): boolean => {
    if (isOver) return false;
    isOver = true;
    connection.end();
    stdout.end();
    queueMicrotask(() => {
      child.emit('exit', signal === null ? 0 : null, signal);
      child.emit('close', signal === null ? 0 : null, signal);
    });
    return true;
  };
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => connection.hear(line));
  stdin.on('finish', () => exit(null));
  return child as unknown as ChildProcess;
}
