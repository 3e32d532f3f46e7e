import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { kubeOfRun } from './kube-of-run.ts';
import { endLeftProcesses, RUN_VARIABLE } from './left-processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files ask for servers of the run; the path is the name of one. */
    readonly sharedServers: string;
  }
}

type Shared = object & AsyncDisposable;

/** Servers whose start takes seconds of CPU. What a test file gets of them is JSON. */
const SERVERS: Readonly<Record<string, () => Promise<Shared>>> = {
  kube: kubeOfRun,
  registry: async () => (await import('./registry-server.ts')).startRegistry(),
};

/**
 * Set up before the test files of a run: each server starts when the first file asks for it, and stops when the last has ended. Then
 * programs that failed tests have left are ended too.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Shared>>();
  const server = createServer(async ({ url = '' }, answer) => {
    const name = url.slice(1);
    try {
      const starting = started.get(name) ?? SERVERS[name]?.();
      if (starting === undefined) throw new Error(`there is no shared server ${name}`);
      started.set(name, starting);
      answer.end(JSON.stringify(await starting));
    } catch (cause) {
      answer.writeHead(500).end(String(cause));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('sharedServers', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    for (const starting of started.values()) await (await starting.catch(() => undefined))?.[Symbol.asyncDispose]();
    for (const command of endLeftProcesses(project.config.env[RUN_VARIABLE] ?? '')) {
      console.error(`tests left a program running, which is ended now: ${command}`);
    }
  };
}
