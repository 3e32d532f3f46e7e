import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Api } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Contents } from '../../../../hosts/operator/controllers/contents.ts';
import { ensureStateKey } from '../../../../hosts/operator/controllers/virtual-mcp-server/state-key.ts';
import type { VirtualMcpServer } from '../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import type { Caches } from '../../../../hosts/operator/machinery/controller.ts';
import type { Secret } from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { dualServer } from '../../../core/backend/fixtures/dual-server.ts';
import { startCli } from '../../../support/cli.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { writeVmcpFile } from '../../../support/vmcp-file.ts';

const LONG = 240_000;
const WAIT = 60_000;
const CONFIRM = { name: 'far_confirm', arguments: {} };

it(
  'pods with the state key of one Secret continue calls of each other that wait for input; one with another key does not',
  async () => {
    const folder = temporaryFolder('state-key');
    await using running = new AsyncDisposableStack();
    const file = await writeVmcpFile(folder, { far: await backendIn(running) });
    const podWith = async (key: string): Promise<Client> => {
      const env = { TOOLMGR_STATE_KEY: key };
      const pod = running.use(startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env }));
      const [, url = ''] = await pod.printed(/serves (http:\S+)/, WAIT);
      return clientOf(url);
    };
    const shared = await valueForPods();
    const [first, second, other] = await Promise.all([shared, shared, await valueForPods()].map(podWith));
    const asked = await call(first, CONFIRM);
    expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const inputResponses = { sure: { action: 'accept', content: { ok: true } } };
    const answered = { ...CONFIRM, inputResponses, requestState: asked.requestState };
    await expect(call(other, answered)).rejects.toMatchObject({ code: -32602 });
    expect(await call(second, answered)).toMatchObject({ content: [{ text: 'answer accept' }] });
    await Promise.all([first, second, other].map((client) => client?.close()));
  },
  LONG,
);

/** The value that the kubelet gives pods, of a Secret that the operator makes. */
async function valueForPods(): Promise<string> {
  let made: Secret | undefined;
  const api = {
    get: async () => undefined,
    create: async (_type: unknown, object: Secret) => {
      made = object;
      return object;
    },
  } as unknown as Api;
  const caches = { of: () => ({ get: () => undefined }) } as unknown as Caches;
  const server = { kind: 'VirtualMCPServer', metadata: { name: 'a' } } as VirtualMcpServer;
  const wanted = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a-vmcp-state' } };
  await ensureStateKey(server, wanted, { api, caches }, {} as Contents);
  return Buffer.from(made?.data?.['state-key'] ?? '', 'base64').toString();
}

async function backendIn(running: AsyncDisposableStack): Promise<string> {
  const handler = createMcpHandler(dualServer);
  const node = toNodeHandler(handler);
  const http = await loopbackServer((request, response) => void node(request, response));
  running.defer(async () => {
    await handler.close();
    await http[Symbol.asyncDispose]();
  });
  return `${http.url}/mcp`;
}

async function clientOf(url: string): Promise<Client> {
  const client = new Client(
    { name: 'caller', version: '1' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      inputRequired: { autoFulfill: false },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function call(client: Client | undefined, params: object): Promise<Record<string, unknown>> {
  if (client === undefined) throw new Error('no client');
  const result = z.looseObject({});
  return client.request({ method: 'tools/call', params: { ...params } }, result, { allowInputRequired: true });
}
