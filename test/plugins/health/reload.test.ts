import type { Core, Plugin } from '@toolmgr/core';
import { definePlugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import health from '../../../plugins/health/index.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

/** Returns the core to the test. */
function looking() {
  let core: Core | undefined;
  const plugin: Plugin = definePlugin({
    address: 'testing/looking',
    config: z.strictObject({}),
    apply: (given) => {
      core = given;
    },
  });
  return { plugin, health: () => core?.backends.states()[0]?.health };
}

async function generation(far: FakeServer, before?: TestGateway) {
  const look = looking();
  const kit = await testGateway({
    backends: { far },
    plugins: [health, look.plugin],
    ...(before === undefined ? {} : { successorOf: before.gateway }),
  });
  return { kit, health: look.health };
}

describe('health after a reload', () => {
  proves('choice.reload.health-stays', 'of a backend that continues is unchanged', async () => {
    const far = fakeServer().tool('where', 'here');
    const first = await generation(far);
    await until(() => first.health()?.status === 'healthy');
    const before = first.health();
    await until(() => Date.now() > (before?.sinceMs ?? 0)); // otherwise a new record could look like the old one
    const second = await generation(far, first.kit);
    await first.kit.gateway.drained();
    await first.kit.gateway.stop();
    expect(far.opened).toBe(1);
    expect(second.health()).toEqual(before);
    await (await second.kit.client()).callTool('where');
    expect(second.health()).toEqual(before);
    await second.kit.gateway.stop();
  });
});
