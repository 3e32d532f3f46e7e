import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { modernRequests } from '../bench/requests.ts';
import { proves } from '../support/proves.ts';
import { until } from '../support/until.ts';
import { measureOthers } from './rig/others.ts';
import { gatewayProgram, hardServer, startProgram } from './rig/programs.ts';

/** Memory limit of the pods that the operator makes. */
const POD_BYTES = 536_870_912;
const ATTACK_MS = 4_000;

describe('bytes in flight fit into the memory of a default pod', () => {
  for (const [attempt, words] of [
    ['results', 'ten calls with results of 90 MB'],
    ['bodies', '120 connections with unfinished bodies of 8 MB'],
  ] as const)
    proves(
      'choice.limits.memory-budget',
      `${words} of one caller do not end it, calls of others are answered, and the bytes are free again`,
      async () => {
        const [good, calm] = await Promise.all([hardServer(), hardServer()]);
        const backends = [
          { name: 'good', transport: 'streamable-http' as const, url: good.url },
          { name: 'calm', transport: 'streamable-http' as const, url: calm.url },
        ];
        const gateway = await gatewayProgram(backends, { limits: { memoryBudgetBytes: Math.floor(POD_BYTES / 3) } });
        const attacker = await startProgram(join(import.meta.dirname, 'rig/attacker.ts'), [attempt, gateway.url]);
        const plain = modernRequests().call('calm_quick');
        await until(async () => ((await gateway.counts()).bytes ?? 0) > 50_000_000);
        const others = await measureOthers(gateway.url, () => plain, ATTACK_MS);
        await attacker.kill();
        console.log(attempt, others, peakBytes(gateway.pid) / 1e6);
        expect(others.failures).toEqual({});
        expect(others.calls).toBeGreaterThan(20);
        expect(peakBytes(gateway.pid)).toBeLessThan(POD_BYTES);
        await until(async () => (await gateway.counts()).bytes === 0, 10_000);
        expect((await gateway.memory()).arrayBuffers).toBeLessThan(20_000_000);
      },
      60_000,
    );
});

/** The most memory that a process has had resident. */
function peakBytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
