import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { logInAndCall } from './auth-client.ts';
import { callThroughGateway } from './client.ts';
import type { DriverTask } from './driver-task.ts';

/** The clients under test, in this process. */
export interface Drivers extends AsyncDisposable {
  /** Where `ask-driver.mjs`, the command that the suite starts, sends its task. */
  readonly url: string;
}

/** Starts the clients under test: the suite starts a command per scenario, and a start of all sources takes longer than the scenario. */
export async function openDrivers(): Promise<Drivers> {
  const server = createServer(async (request, answer) => {
    const task = JSON.parse(Buffer.concat(await request.toArray()).toString()) as DriverTask;
    const drive = task.scenario.startsWith('auth/') ? logInAndCall : callThroughGateway;
    const fault = await drive(task).then(
      () => undefined,
      (cause: Error) => cause,
    );
    answer.writeHead(fault === undefined ? 200 : 500).end(fault?.stack ?? '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
