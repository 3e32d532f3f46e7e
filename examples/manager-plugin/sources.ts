import { definePlugin } from '@toolmgr/core';
import { operation, operationHomes, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

const ADDRESS = 'sources';

const source = z.strictObject({
  name: z.string().describe('name of the workload'),
  source: z.string().describe('the image, package or URL that it was made from'),
  note: z.string().optional().describe('what the options of the plugin say about it'),
});

/** Shows where workloads come from: an operation with its route, command and tool, and a view of the page. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'shows where workloads come from',
  config: z.strictObject({
    notes: z.record(z.string(), z.string()).default({}).describe('notes by the source that they are about'),
  }),
  apply(core, { notes }) {
    const home = core.slot(operationHomes).get('user');
    const list = operation({
      id: 'listSources',
      method: 'GET',
      path: '/api/v1beta/sources',
      tag: 'sources',
      summary: 'List where workloads come from',
      query: z.strictObject({ containing: z.string().default('').describe('only sources with this text') }),
      answers: {
        200: {
          description: 'the workloads with their sources',
          schema: z.array(source),
          example: [{ name: 'fetch', source: 'uvx://mcp-server-fetch' }],
        },
      },
      problems: [],
      tool: { name: 'list_sources', readOnly: true },
      command: { words: 'sources', arguments: ['containing'] },
      async run({ query: { containing } }) {
        const all = (await home.workloads()).map(({ name, config }) => {
          const from = config?.image ?? config?.remote_url ?? config?.process?.target ?? 'unknown';
          return { name, source: from, ...(notes[from] === undefined ? {} : { note: notes[from] }) };
        });
        return { status: 200, body: all.filter((each) => each.source.includes(containing)) };
      },
    });
    core.slot(operations).register(ADDRESS, [list]);
    core
      .slot(pageViews)
      .register(ADDRESS, [
        { name: 'sources', title: 'Sources', order: 15, module: new URL('./sources-view.js', import.meta.url) },
      ]);
  },
});
