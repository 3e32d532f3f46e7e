import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { codeModeConfig } from '../../../plugins/code-mode/execute-script/config.ts';
import { proves } from '../../support/proves.ts';
import { runScript, scriptedGateway } from '../../support/scripted-gateway.ts';

const read = (given: object) => codeModeConfig.safeParse(given);

describe('codeMode', () => {
  proves('vmcp.code-mode.step-limit', 'has a stepLimit of at least 1, 100000 by default', () => {
    expect(codeModeConfig.parse({}).stepLimit).toBe(100_000);
    expect(read({ stepLimit: 9_007_199_254_740_991 }).success).toBe(true);
    for (const stepLimit of [0, -1, 1.5, '1']) expect(read({ stepLimit }).success).toBe(false);
  });

  proves(
    ['vmcp.code-mode.step-limit', 'choice.code-mode.wall-clock', 'choice.code-mode.memory-limit'],
    'limits the scripts of its own gateway',
    async () => {
      for (const [given, script, said] of [
        [{ stepLimit: 20_000 }, 'for (let i = 0; i < 90_000; i++);', 'the script took more than 20000 steps'],
        [{ scriptTimeout: '300ms' }, 'await far.hangs()', 'the script took longer than 300 ms'],
        [
          { memoryBytes: 16_777_216 },
          "const kept = []; for (let i = 0; i < 400; i++) kept.push('x'.repeat(100_000) + i);",
          'the script needed more than 16777216 bytes of memory',
        ],
      ] as const) {
        const far = fakeServer().tool('hangs', () => new Promise(() => {}));
        await using kit = await scriptedGateway({ far }, given);
        const client = await kit.client();
        expect((await runScript(client, script)).failure).toBe(`script execution failed: ${said}`);
      }
    },
  );

  proves('vmcp.code-mode.tool-call-timeout', 'has a toolCallTimeout as a Go duration, 30s by default', () => {
    expect(codeModeConfig.parse({}).toolCallTimeout).toBe(30_000);
    expect(codeModeConfig.parse({ toolCallTimeout: '1m30s' }).toolCallTimeout).toBe(90_000);
    expect(codeModeConfig.parse({ toolCallTimeout: '10000h' }).toolCallTimeout).toBe(2_147_483_647);
    for (const toolCallTimeout of ['0s', 30, '30', '-1s']) expect(read({ toolCallTimeout }).success).toBe(false);
  });

  proves('vmcp.code-mode.parallel-max-concurrency', 'has a parallelMaxConcurrency of at least 1, 10 by default', () => {
    expect(codeModeConfig.parse({}).parallelMaxConcurrency).toBe(10);
    expect(read({ parallelMaxConcurrency: 1 }).success).toBe(true);
    for (const parallelMaxConcurrency of [0, 2.5]) expect(read({ parallelMaxConcurrency }).success).toBe(false);
  });
});
