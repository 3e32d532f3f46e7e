import { pushSource } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { pluginCore } from '../../support/plugin-core.ts';

describe('the backend source that a test feeds', () => {
  it('gives what is current to a gateway that starts, then each change, until the gateway stops', async () => {
    const core = pluginCore();
    const backend = (name: string) => ({ name, transport: 'sse', url: 'http://a.test/sse' }) as const;
    const { plugin, push } = pushSource([backend('a')]);
    plugin.apply(core, {});
    push([backend('b')]);
    const seen: string[] = [];
    const stop = new AbortController();
    const watching = core.slots.backendSources
      .get(plugin.address)
      .watch((snapshot) => void seen.push(snapshot.map(({ name }) => name).join()), stop.signal);
    push([]);
    push([backend('a'), backend('b')]);
    expect(seen).toEqual(['b', '', 'a,b']);
    stop.abort();
    await expect(watching).resolves.toBeUndefined();
  });
});
