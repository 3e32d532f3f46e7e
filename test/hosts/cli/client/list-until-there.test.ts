import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { listUntilThere } from '../../../../hosts/cli/client/list-until-there.ts';

const LONG_MS = 60_000;

/** A client whose lists are the given ones, the last one for ever; a text is the error of a refused list. */
function client(
  lists: readonly { readonly tools: readonly string[] | string; readonly starting: readonly string[] }[],
) {
  let at = -1;
  const current = () => lists[Math.min(at, lists.length - 1)];
  return {
    asked: () => at + 1,
    starting: () => current()?.starting ?? [],
    async listTools(): Promise<readonly JsonObject[]> {
      at++;
      const tools = current()?.tools ?? [];
      if (typeof tools === 'string') throw new Error(tools);
      return tools.map((name) => ({ name }));
    },
  };
}

const BEHIND = ['slow (starting, 3 s)'];

describe('a list of tools', () => {
  it('is asked for again while a backend starts, also when it was refused', async () => {
    const slow = client([
      { tools: 'the list would be incomplete', starting: BEHIND },
      { tools: ['a'], starting: BEHIND },
      { tools: ['a', 'b'], starting: [] },
    ]);
    expect(await listUntilThere(slow, undefined, LONG_MS)).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(slow.asked()).toBe(3);
  });

  it('is used as soon as it has the tool', async () => {
    const slow = client([{ tools: ['a'], starting: BEHIND }]);
    expect(await listUntilThere(slow, 'a', LONG_MS)).toEqual([{ name: 'a' }]);
    expect(slow.asked()).toBe(1);
  });

  it('is not waited for longer than allowed, nor when nothing starts', async () => {
    const slow = client([{ tools: ['a'], starting: BEHIND }]);
    expect(await listUntilThere(slow, 'b', 0)).toEqual([{ name: 'a' }]);
    expect(slow.asked()).toBe(1);
    await expect(listUntilThere(client([{ tools: 'refused', starting: BEHIND }]), undefined, 0)).rejects.toThrow(
      'refused',
    );
    await expect(listUntilThere(client([{ tools: 'refused', starting: [] }]), 'b', LONG_MS)).rejects.toThrow('refused');
  });
});
