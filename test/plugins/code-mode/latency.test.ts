import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { runScript, scriptedGateway } from '../../support/scripted-gateway.ts';

describe('ten scripts in endless loops', () => {
  proves('choice.code-mode.event-loop', 'do not delay calls of other clients', async () => {
    await using kit = await scriptedGateway(
      { far: fakeServer().tool('echo') },
      { stepLimit: 1_000_000_000_000, scriptTimeout: '6s' },
      { sandbox: { workers: 16, warm: 10, processors: 16, cpuPerCaller: '10m' } },
    );
    const [client, other] = [await kit.client(), await kit.client()];
    await client.callTool('far_echo', {});
    const spinning = Array.from({ length: 10 }, () => runScript(client, 'for (;;);'));
    let ended = 0;
    for (const each of spinning) void each.then(() => ended++);
    const times: number[] = [];
    while (ended === 0) {
      const startedAt = performance.now();
      await other.callTool('far_echo', { n: times.length });
      times.push(performance.now() - startedAt);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // on the gateway's thread a single script would delay the first call by six seconds
    times.sort((a, b) => a - b);
    expect(times.length).toBeGreaterThan(20);
    expect(times[0]).toBeLessThan(100); // the fastest: ten loops and other tests use the same processors
    expect(times.at(-1)).toBeLessThan(4_000);
    for (const each of await Promise.all(spinning)) expect(each.failure).toMatch(/longer than 6000 ms/);
  });
});
