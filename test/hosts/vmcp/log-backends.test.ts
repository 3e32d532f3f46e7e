import type { BackendState, Gateway } from '@toolmgr/core';
import { expect, it } from 'vitest';
import { logBackends } from '../../../hosts/vmcp/serve/log-backends.ts';
import { pluginCore } from '../../support/plugin-core.ts';

it('a program that was still starting is logged once more when it is ready', async () => {
  const state = (more: Partial<BackendState>): BackendState => ({
    backend: { name: 'slow', transport: 'stdio', command: { file: 'slow', args: [] } } as BackendState['backend'],
    status: 'unknown',
    era: undefined,
    cause: undefined,
    sinceMs: 0,
    hello: undefined,
    ...more,
  });
  const states = [state({ startingSinceMs: 0 }), state({ startingSinceMs: 0 }), state({ status: 'ready' })];
  const gateway = {
    settled: async () => {},
    backends: () => [states.length > 1 ? states.shift() : states[0]],
    catalog: () => ({ allTools: () => [{ backend: 'slow' }, { backend: 'other' }] }),
  } as unknown as Gateway;
  const core = pluginCore();
  await logBackends(gateway, core.log);
  expect(core.lines.map(({ message, fields }) => [message, fields?.tools])).toEqual([
    ['backend still starting', 1],
    ['backend ready', 1],
  ]);
});
