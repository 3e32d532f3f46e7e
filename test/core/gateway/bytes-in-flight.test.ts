import { connect, type Socket } from 'node:net';
import { createGateway, createLog, createMemoryBudget, DEFAULT_LIMITS, type Gateway, type Plan } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { ByteBudget } from '../../../core/mcp/byte-budget.ts';
import { serveGateway } from '../../../hosts/http/listen.ts';
import { modernRequests } from '../../bench/requests.ts';
import { type HardServer, hardServer } from '../../proof/rig/programs.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;
const endings: (() => void | Promise<void>)[] = [];
let backend: HardServer;

beforeAll(async () => {
  backend = await hardServer('both', (end) => void endings.unshift(end));
});
afterAll(async () => {
  for (const end of endings) await end();
});

/** A served gateway, and calls to it. */
async function gatewayWith(limits: Partial<Plan['limits']>, memory?: ReturnType<typeof createMemoryBudget>) {
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        {
          use: 'backend-sources/static',
          with: { backends: [{ name: 'far', transport: 'streamable-http', url: backend.url }] },
        },
        { use: 'aggregation' },
      ],
      limits,
    },
    { catalogue, memory },
  );
  await gateway.settled();
  const served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await served.close(0);
    await gateway.stop();
  });
  const call = async (tool: string, mebibytes = 1) => {
    const { headers, body } = modernRequests().call(tool);
    const answer = await fetch(`${served.url}/mcp`, {
      method: 'POST',
      headers,
      body: body.replace('"arguments":{', () => `"arguments":{"mebibytes":${mebibytes},`),
    });
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
  };
  return { gateway, port: served.port, call };
}

/** A connection that sends the head of a call with a body of `bytes`, and some of them. */
function sending(port: number, bytes: number, sent: string, tool = 'far_quick'): Socket {
  const { headers } = modernRequests().call(tool);
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const lines = Object.entries({ ...headers, host: `127.0.0.1:${port}`, 'content-length': String(bytes) });
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`);
  socket.write(sent);
  return socket;
}

const isFree = (gateway: Gateway) => until(() => gateway.counts().bytes === 0);

describe('bytes in flight', () => {
  proves('choice.limits.memory-share', 'a share has space for as much as is still free', () => {
    const budget = new ByteBudget({ ...DEFAULT_LIMITS, memoryBudgetBytes: 900 });
    const [ada, bob] = [budget.holder('ada'), budget.holder('bob')];
    expect(ada.take(451)).toBe(false);
    expect([ada.take(450), ada.take(1)]).toEqual([true, false]);
    expect(budget.holder('ada').take(1)).toBe(false);
    expect([bob.take(226), bob.take(225)]).toEqual([false, true]);
    ada.release();
    expect(bob.take(225)).toBe(true);
    bob.release();
    expect(budget.now).toEqual({ held: 0, most: 900, refused: 0 });
  });

  proves(
    ['choice.limits.memory-refused', 'choice.limits.memory-released'],
    'unfinished bodies of one address use up its share: its next is refused, others are answered, and the end frees them',
    async () => {
      const { gateway, port, call } = await gatewayWith({ memoryBudgetBytes: 2 * MIB });
      const first = sending(port, MIB, ' '.repeat(0.9 * MIB));
      await until(() => gateway.counts().bytes > 0.8 * MIB);
      const second = sending(port, MIB, '');
      const [refusal] = (await new Promise((resolve) => second.once('data', (data) => resolve([String(data)])))) as [
        string,
      ];
      expect(refusal).toMatch(/^HTTP\/1\.1 503 /);
      expect(refusal).toMatch(/\r\nretry-after: 1\r\n/i);
      expect(refusal).toContain('"data":{"retryAfterSeconds":1}');
      expect(refusal).toContain('MEMORY_SPENT');
      expect(await call('far_quick')).toMatchObject({ status: 200 });
      first.destroy();
      await isFree(gateway);
    },
  );

  proves(
    'choice.limits.memory-shared',
    'two gateways with one budget have its space together, and the refusals of both are logged',
    async () => {
      const lines: string[] = [];
      const memory = createMemoryBudget({ bytes: 2 * MIB, log: createLog('warn', (line) => lines.push(line)) });
      const [one, other] = [await gatewayWith({}, memory), await gatewayWith({}, memory)];
      sending(one.port, MIB, ' '.repeat(0.9 * MIB));
      await until(() => memory.now.held > 0.8 * MIB);
      expect(other.gateway.counts().bytes).toBe(one.gateway.counts().bytes);
      const second = sending(other.port, MIB, '');
      const refusal = await new Promise((resolve) => second.once('data', resolve));
      expect(String(refusal)).toContain('MEMORY_SPENT');
      expect(memory.now).toMatchObject({ most: 2 * MIB, refused: 1 });
      expect(lines.join('\n')).toContain('the memory budget is used up');
    },
  );

  proves(
    'choice.limits.memory-waits',
    'results that do not fit together wait for each other, each is complete, and none is refused',
    async () => {
      const { gateway, call } = await gatewayWith({ memoryBudgetBytes: 12 * MIB });
      const answers = await Promise.all([
        call('far_big', 4),
        call('far_big', 4),
        call('far_big', 4),
        call('far_big', 4),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      for (const { text } of answers) expect(text.length).toBeGreaterThan(4 * MIB);
      await isFree(gateway);
    },
    20_000,
  );

  proves(
    'choice.limits.memory-refused',
    'a result larger than the budget is 503, the next call is answered',
    async () => {
      const { gateway, call } = await gatewayWith({ memoryBudgetBytes: 4 * MIB });
      const refused = await call('far_big', 8);
      expect([refused.status, refused.retryAfter]).toEqual([503, '1']);
      expect(refused.text).toContain('MEMORY_SPENT');
      expect(JSON.parse(refused.text).error.data).toEqual({ retryAfterSeconds: 1 });
      await isFree(gateway);
      expect(await call('far_quick')).toMatchObject({ status: 200 });
    },
  );

  proves(
    ['choice.limits.send-timeout', 'choice.limits.memory-released'],
    'a client that does not read its result holds its bytes until it is disconnected',
    async () => {
      const { gateway, port } = await gatewayWith({ sendTimeoutMs: 400 });
      const { body } = modernRequests().call('far_big');
      const text = body.replace('"arguments":{', () => '"arguments":{"mebibytes":24,');
      const socket = sending(port, text.length, text, 'far_big');
      socket.pause();
      await until(() => gateway.counts().callsInFlight === 0 && gateway.counts().bytes > 10 * MIB);
      await isFree(gateway);
    },
  );
});
