import { describe, expect, it } from 'vitest';
import plugin from '../../../../plugins/optimizer/search/index.ts';
import { createSearcher } from '../../../../plugins/optimizer/search/searcher.ts';
import { bootPlugin } from '../../../support/plugin-core.ts';
import { toolEntry, type WrittenTool } from '../../../support/tool-entries.ts';

const searcher = createSearcher();

async function names(tools: readonly WrittenTool[], text: string, allowed?: readonly string[]): Promise<string[]> {
  const index = await searcher.index(tools.map(toolEntry));
  const query = { text, limit: 8, semanticRatio: 0.5, maxDistance: 1 };
  return index.find(allowed === undefined ? query : { ...query, allowed: new Set(allowed) }).map(({ name }) => name);
}

const TOOLS: readonly WrittenTool[] = [
  { name: 'read_file', backend: 'files', description: 'Reads the contents of a file' },
  { name: 'write_file', backend: 'files', description: 'Writes a file' },
  { name: 'sendMail', backend: 'post', description: 'Delivers a letter to somebody' },
  { name: 'draw-chart', backend: 'charts', description: 'Draws a bar chart from rows' },
];

describe('the searcher', () => {
  it('is registered as hybrid', async () => {
    const core = await bootPlugin(plugin, {});
    expect(core.slots.searchers.get('hybrid').queryTextsOf('one thing')).toEqual(['one thing']);
  });

  it.each(TOOLS.map(({ name }) => name))('finds %s first by its exact name', async (name) => {
    expect((await names(TOOLS, name))[0]).toBe(name);
  });

  it('finds by the words of an identifier with any endings', async () => {
    expect((await names(TOOLS, 'sending mails'))[0]).toBe('sendMail');
    expect((await names(TOOLS, 'charts to be drawn'))[0]).toBe('draw-chart');
  });

  it('returns only allowed tools', async () => {
    expect(await names(TOOLS, 'file', ['write_file'])).toEqual(['write_file']);
    expect(await names(TOOLS, 'file', [])).toEqual([]);
  });

  it('finds nothing when no word matches', async () => {
    expect(await names(TOOLS, 'zebra')).toEqual([]);
    expect(await names(TOOLS, '')).toEqual([]);
    expect(await names([], 'file')).toEqual([]);
  });

  it('tokenizes a list once, also when its vectors arrive later', async () => {
    let reads = 0;
    const tools = TOOLS.map(toolEntry).map((tool) => ({
      ...tool,
      get definition() {
        reads += 1;
        return tool.definition;
      },
    }));
    const before = await searcher.index(tools);
    const once = reads;
    const after = await searcher.index(
      tools,
      TOOLS.map((_, at) => Float32Array.from([at, 1, 0], (value) => value / Math.hypot(at, 1))),
    );
    expect(reads).toBe(once);
    const query = { text: 'write a file', limit: 8, semanticRatio: 0, maxDistance: 1 };
    expect(after.find(query)).toEqual(before.find(query));
    const meant = after.find({ ...query, semanticRatio: 1, vectors: [Float32Array.of(1, 0, 0)] });
    expect(meant.map(({ name }) => name)).toEqual(['draw-chart', 'sendMail', 'write_file', 'read_file']);
  });

  it('orders equal scores by name, in any order of the catalogue', async () => {
    const twins = ['b', 'c', 'a'].map((name) => ({ name: `${name}_copy`, description: 'Copies rows' }));
    expect(await names(twins, 'copies rows')).toEqual(['a_copy', 'b_copy', 'c_copy']);
    expect(await names([...twins].reverse(), 'copies rows')).toEqual(['a_copy', 'b_copy', 'c_copy']);
  });
});
