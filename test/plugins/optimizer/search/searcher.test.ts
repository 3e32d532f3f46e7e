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
  it('fills the slot under the name hybrid', async () => {
    const core = await bootPlugin(plugin, {});
    expect(core.slots.searchers.get('hybrid').questionsOf('one thing')).toEqual(['one thing']);
  });

  it.each(TOOLS.map(({ name }) => name))('finds %s first by its exact name', async (name) => {
    expect((await names(TOOLS, name))[0]).toBe(name);
  });

  it('finds by the words of an identifier, whatever their endings', async () => {
    expect((await names(TOOLS, 'sending mails'))[0]).toBe('sendMail');
    expect((await names(TOOLS, 'charts to be drawn'))[0]).toBe('draw-chart');
  });

  it('gives only what may be found', async () => {
    expect(await names(TOOLS, 'file', ['write_file'])).toEqual(['write_file']);
    expect(await names(TOOLS, 'file', [])).toEqual([]);
  });

  it('finds nothing where no word fits', async () => {
    expect(await names(TOOLS, 'zebra')).toEqual([]);
    expect(await names(TOOLS, '')).toEqual([]);
    expect(await names([], 'file')).toEqual([]);
  });

  it('orders equal tools by name, whatever the order of the catalogue', async () => {
    const twins = ['b', 'c', 'a'].map((name) => ({ name: `${name}_copy`, description: 'Copies rows' }));
    expect(await names(twins, 'copies rows')).toEqual(['a_copy', 'b_copy', 'c_copy']);
    expect(await names([...twins].reverse(), 'copies rows')).toEqual(['a_copy', 'b_copy', 'c_copy']);
  });
});
