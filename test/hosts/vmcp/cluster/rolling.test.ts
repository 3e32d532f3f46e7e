import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { type RunningCli, startCli } from '../../../support/cli.ts';
import { proves } from '../../../support/proves.ts';
import { recordingServer } from '../../../support/recording-server.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { tcpBalancer } from '../../../support/tcp-balancer.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { writeVmcpFile } from '../../../support/vmcp-file.ts';

const LONG = 240_000;
const WAIT = 60_000;
const PODS = 3;

/** One client that calls until `stop`, with pauses that leave the processor to the pods that start. */
async function caller(url: string, mode: 'auto' | 'legacy') {
  const client = new Client({ name: mode, version: '1' }, { versionNegotiation: { mode } });
  let resumed = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    resumed += 1;
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const failed: string[] = [];
  let answered = 0;
  let isStopped = false;
  const calling = (async () => {
    while (!isStopped) {
      const name = answered % 20 === 19 ? 'far_slow' : 'far_echo';
      try {
        const result = await client.callTool({ name, arguments: { message: 'hi' } });
        if (result.isError) failed.push(JSON.stringify(result.content));
        answered += 1;
      } catch (cause) {
        failed.push(String(cause));
      }
      await delay(20);
    }
  })();
  return {
    client,
    failed,
    answered: () => answered,
    /** Notifications of changed lists: a session's stream that continues in another pod begins with one. */
    resumed: () => resumed,
    async stop() {
      isStopped = true;
      await calling;
      await client.close();
    },
  };
}

describe('three pods that are replaced one after the other, with one Redis', () => {
  proves.skipIf(redisMissing, redisMissing ?? '')(
    'choice.stop.pods-drain',
    'lose no call of clients of both eras',
    async () => {
      const folder = temporaryFolder('rolling');
      await using redis = await startRedis();
      await using far = await recordingServer(() => delay(1_000));
      await using balancer = await tcpBalancer();
      await using running = new AsyncDisposableStack();
      const file = await writeVmcpFile(
        folder,
        { far: far.url },
        { sessionStorage: { provider: 'redis', address: redis.address }, kubernetes: {} },
      );
      const start = async (): Promise<{ pod: RunningCli; port: number }> => {
        const pod = running.use(
          startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env: { TOOLMGR_STATE_KEY: 'k'.repeat(43) } }),
        );
        const [, url = ''] = await pod.printed(/serves (http:\S+)/, WAIT);
        await until(async () => (await fetch(new URL('/readyz', url))).status === 200, WAIT);
        return { pod, port: Number(new URL(url).port) };
      };
      const old = await Promise.all(Array.from({ length: PODS }, start));
      for (const { port } of old) balancer.targets.add(port);
      const modes = ['auto', 'legacy', 'auto', 'legacy', 'auto', 'legacy'] as const;
      const callers = await Promise.all(modes.map((mode) => caller(balancer.url, mode)));

      for (const { pod, port } of old) {
        const next = await start();
        balancer.targets.add(next.port);
        const withdraw = delay(300).then(() => balancer.targets.delete(port)); // nodes learn it at different times
        pod.signal('SIGTERM');
        await withdraw;
        expect((await pod.finished).code).toBe(0);
      }
      const ofSessions = callers.filter((_, n) => modes[n] === 'legacy');
      await until(() => ofSessions.every(({ resumed }) => resumed() > 0), WAIT);
      const before = callers.map(({ answered }) => answered());
      await until(() => callers.every(({ answered }, n) => answered() > (before[n] ?? 0)), WAIT);
      expect(callers.flatMap(({ failed }) => failed)).toEqual([]);
      await Promise.all(callers.map((one) => one.stop()));
    },
    LONG,
  );
});
