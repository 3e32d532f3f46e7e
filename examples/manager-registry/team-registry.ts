import { definePlugin } from '@toolmgr/core';
import { operation, operations, pageViews, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

const ADDRESS = 'team-registry';

const server = z.strictObject({
  name: z.string(),
  description: z.string(),
  image: z.string().describe('an image, or a package such as npx://NAME@VERSION'),
  transport: z.enum(['stdio', 'streamable-http']).default('stdio'),
});

/** What the answer of a registry with remote servers and several sources has too. */
const NOTHING = { remote_servers: [], left_out: [], shadowed: [], notes: [] };

const params = z.strictObject({ name: z.literal('default').describe('name of the registry') });

/** Takes the place of the registry: only the servers that a team has agreed on, from the options of the plugin. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'a registry with the servers of one team',
  config: z.strictObject({ servers: z.array(server).min(1).describe('what the team may run') }),
  apply(core, { servers }) {
    const summary = { name: 'default', type: 'file', source: ADDRESS, version: '1.0.0', server_count: servers.length };
    core.slot(operations).register(ADDRESS, [
      operation({
        id: 'listRegistries',
        method: 'GET',
        path: '/api/v1beta/registry',
        tag: 'Registries',
        summary: 'List registries',
        answers: {
          200: { description: 'the only one', schema: z.looseObject({}), example: { registries: [summary] } },
        },
        problems: [],
        tool: { name: 'list_registries', readOnly: true },
        run: async () => ({ status: 200, body: { registries: [summary] } }),
      }),
      operation({
        id: 'listServersOfRegistry',
        method: 'GET',
        path: '/api/v1beta/registry/{name}/servers',
        tag: 'Registries',
        summary: 'List the servers of the team',
        params,
        query: z.looseObject({ q: z.string().default('').describe('part of a name') }),
        answers: {
          200: {
            description: 'the servers',
            schema: z.looseObject({}),
            example: { ...NOTHING, servers, total: servers.length },
          },
        },
        problems: [],
        tool: { name: 'search_registry', readOnly: true },
        async run({ query: { q } }) {
          const found = servers.filter(({ name }) => name.includes(q));
          return { status: 200, body: { ...NOTHING, servers: found, total: found.length } };
        },
      }),
      operation({
        id: 'getServerOfRegistry',
        method: 'GET',
        path: '/api/v1beta/registry/{name}/servers/{serverName}',
        tag: 'Registries',
        summary: 'Get a server of the team',
        params: params.extend({ serverName: z.string() }),
        answers: { 200: { description: 'the server', schema: z.looseObject({}), example: { server: servers[0] } } },
        problems: ['not_found'],
        async run({ path: { serverName } }) {
          const found = servers.find(({ name }) => name === serverName);
          return found === undefined
            ? problem('not_found', `the team has no server ${serverName}`)
            : { status: 200, body: { server: found, is_remote: false } };
        },
      }),
    ]);
    core.slot(pageViews).register(ADDRESS, [{ name: 'browse', title: 'Browse', order: 20 }]);
  },
});
