import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import {
  imageServerShape,
  leftOutShape,
  registryDetailShape,
  registrySummaryShape,
  remoteServerShape,
  serversOf,
  shadowedShape,
} from './contract-shapes.ts';
import { limitFrom, pageFrom } from './listing.ts';
import { lookUpEntry, searchEntries } from './look-up.ts';
import type { Shadowed } from './merge-registries.ts';
import { DEFAULT_REGISTRY } from './new-source.ts';
import type { ConfiguredRegistry } from './registries.ts';
import type { Registry } from './registry-data.ts';
import type { RegistryDeps } from './registry-deps.ts';
import { loadProblem, noRegistry } from './registry-problem.ts';
import { contractSource, registryData, summaryOf } from './registry-summary.ts';

export const REGISTRY_TAG = 'Registries';
export const REGISTRIES_PATH = '/api/v1beta/registry';

/** Path parameter of a registry. */
export const registryParam = z
  .string()
  .max(200)
  .describe('name of a registry; `default` is the merged view of all')
  .meta({ examples: ['default'] });

/** A registry of the settings, or the merged view, with its content. */
interface Found {
  readonly name: string;
  readonly source: ConfiguredRegistry | undefined;
  readonly registry: Registry & { readonly shadowed?: readonly Shadowed[] };
  readonly notes: readonly string[];
}

/** Finds a registry and loads it. */
async function found({ registries }: RegistryDeps, name: string, signal: AbortSignal): Promise<Found | Problem> {
  const all = await registries.configured();
  const source = name === DEFAULT_REGISTRY ? contractSource(all) : all.find((each) => each.name === name);
  if (name !== DEFAULT_REGISTRY && source === undefined) return noRegistry(namesOf(all));
  const loaded =
    name === DEFAULT_REGISTRY || source === undefined
      ? await registries.load({ signal })
      : await registries.loadOne(source, { signal });
  if ('problem' in loaded) return loadProblem(loaded);
  return { name, source, registry: loaded.registry, notes: loaded.notes };
}

function namesOf(all: readonly ConfiguredRegistry[]): readonly string[] {
  return [...new Set([DEFAULT_REGISTRY, ...all.map(({ name }) => name)])];
}

const IMAGE = {
  name: 'fetch',
  image: 'uvx://mcp-server-fetch@2026.10.24',
  transport: 'stdio',
  description: 'Fetches web pages',
};
/** A summary in examples. */
export const SUMMARY = {
  name: 'default',
  type: 'default',
  source: '',
  version: '1.0.0',
  last_updated: '2026-11-22T00:00:00Z',
  server_count: 42,
  auth_type: '',
  auth_status: 'none',
};

const DETAIL = {
  ...SUMMARY,
  registry: {
    version: '1.0.0',
    last_updated: '2026-11-22T00:00:00Z',
    servers: { fetch: IMAGE },
    remote_servers: {},
    groups: [],
  },
  left_out: [],
  shadowed: [],
  notes: [],
};

/** Operations that read registries. */
export function readOperations(deps: RegistryDeps): readonly Operation[] {
  const { registries, tokens } = deps;
  return [
    operation({
      id: 'listRegistries',
      method: 'GET',
      path: REGISTRIES_PATH,
      tag: REGISTRY_TAG,
      summary: 'List registries',
      description:
        '`default` is the merged view of all registries; its `type` and `source` are what `PUT` sets. With several registries each of them follows, in the order of their priority. `sources` has each registry as it is, also the one that `PUT` sets.',
      answers: {
        200: {
          description: 'The registries, without their servers.',
          schema: z.object({ registries: z.array(registrySummaryShape), sources: z.array(registrySummaryShape) }),
          example: { registries: [SUMMARY], sources: [{ ...SUMMARY, priority: 1 }] },
        },
      },
      problems: [],
      tool: { name: 'list_registries', readOnly: true },
      async run({ context: { signal } }) {
        const all = await registries.configured();
        const merged = await registries.load({ signal });
        const content = 'registry' in merged ? merged.registry : merged;
        const whole = await summaryOf(DEFAULT_REGISTRY, contractSource(all), content, tokens);
        const sources = await Promise.all(
          all.map(async (source, at) => {
            const loaded = await registries.loadOne(source, { signal });
            return summaryOf(source.name, source, 'registry' in loaded ? loaded.registry : loaded, tokens, at + 1);
          }),
        );
        const others = all.length > 1 ? sources.filter(({ name }) => name !== DEFAULT_REGISTRY) : [];
        return { status: 200, body: { registries: [whole, ...others], sources } };
      },
    }),
    operation({
      id: 'getRegistry',
      method: 'GET',
      path: `${REGISTRIES_PATH}/{name}`,
      tag: REGISTRY_TAG,
      summary: 'Get a registry',
      params: z.strictObject({ name: registryParam }),
      answers: { 200: { description: 'The registry with its servers.', schema: registryDetailShape, example: DETAIL } },
      problems: ['not_found', 'upstream_failed', 'registry_auth_required', 'registry_unavailable'],
      async run({ path, context }) {
        const here = await found(deps, path.name, context.signal);
        if ('problem' in here) return here;
        const summary = await summaryOf(here.name, here.source, here.registry, tokens);
        return {
          status: 200,
          body: { ...summary, registry: registryData(here.registry), ...around(here) },
        };
      },
    }),
    operation({
      id: 'listServersOfRegistry',
      method: 'GET',
      path: `${REGISTRIES_PATH}/{name}/servers`,
      tag: REGISTRY_TAG,
      summary: 'List servers in a registry',
      description:
        'All servers by default. Packages are image servers whose `image` is `npx://…`, `uvx://…` or `go://…`.',
      params: z.strictObject({ name: registryParam }),
      query: z.strictObject({
        q: z.string().max(500).optional().describe('part of a name, title, description or tag, in any case'),
        page: z.string().max(32).optional().describe('page of `limit` servers, from 1; default 1'),
        limit: z.string().max(32).optional().describe('servers on a page, at most 200; default: all servers'),
      }),
      answers: {
        200: {
          description: 'The servers, sorted by name.',
          schema: z.object({
            servers: z.array(imageServerShape).describe('images and packages'),
            remote_servers: z.array(remoteServerShape).describe('remote servers'),
            total: z.int().describe('number of all servers that match'),
            left_out: z.array(leftOutShape).describe('entries that cannot be used'),
            shadowed: z.array(shadowedShape).describe('entries that several registries have'),
            notes: z.array(z.string()).describe('what is to know about this copy'),
          }),
          example: { servers: [IMAGE], remote_servers: [], total: 1, left_out: [], shadowed: [], notes: [] },
        },
      },
      problems: ['not_found', 'upstream_failed', 'registry_auth_required', 'registry_unavailable'],
      tool: {
        name: 'search_registry',
        description:
          'Searches the registry for MCP servers that can be run. Give q (part of a name, description or tag) and a limit.',
        readOnly: true,
      },
      async run({ path, query, context }) {
        const here = await found(deps, path.name, context.signal);
        if ('problem' in here) return here;
        const all = searchEntries(here.registry, query.q ?? '');
        const limit = limitFrom(query.limit);
        const start = (pageFrom(query.page) - 1) * limit;
        const isPaged = query.limit !== undefined || query.page !== undefined;
        const { images, remotes } = serversOf(isPaged ? all.slice(start, start + limit) : all);
        const body = { servers: images, remote_servers: remotes, total: all.length, ...around(here) };
        return { status: 200, body };
      },
    }),
    operation({
      id: 'getServerOfRegistry',
      method: 'GET',
      path: `${REGISTRIES_PATH}/{name}/servers/{serverName}`,
      tag: REGISTRY_TAG,
      summary: 'Get a server from a registry',
      params: z.strictObject({
        name: registryParam,
        serverName: z
          .string()
          .max(400)
          .describe('name of the server, or the last part of it when that is unique; a slash is `%2F`')
          .meta({ examples: ['fetch'] }),
      }),
      answers: {
        200: {
          description: 'The server: `server` or `remote_server`, as `is_remote` says.',
          schema: z.object({
            is_remote: z.boolean().describe('it is a remote server'),
            server: imageServerShape.optional().describe('image or package'),
            remote_server: remoteServerShape.optional().describe('remote server'),
          }),
          example: { is_remote: false, server: IMAGE },
        },
      },
      problems: ['not_found', 'upstream_failed', 'registry_auth_required', 'registry_unavailable'],
      tool: { name: 'get_registry_server', readOnly: true },
      async run({ path, context }) {
        const here = await found(deps, path.name, context.signal);
        if ('problem' in here) return here;
        const looked = lookUpEntry(here.registry, path.serverName);
        if (looked.kind !== 'found') return problem('not_found', missing(looked));
        const { images, remotes } = serversOf([looked.entry]);
        const body =
          images[0] === undefined
            ? { is_remote: true, remote_server: remotes[0] }
            : { is_remote: false, server: images[0] };
        return { status: 200, body };
      },
    }),
  ];
}

function missing(looked: Exclude<ReturnType<typeof lookUpEntry>, { kind: 'found' }>): string {
  if (looked.kind === 'leftOut') return `the registry has this server, and it cannot be used: ${looked.reason}`;
  if (looked.kind === 'ambiguous')
    return `several servers have this short name: ${looked.names.slice(0, 10).join(', ')}`;
  const hint = looked.nearest === undefined ? '' : `; did you mean ${looked.nearest}?`;
  return `the registry has no server of this name${hint}`;
}

function around({ registry: { leftOut, shadowed = [] }, notes }: Found) {
  return {
    left_out: leftOut,
    shadowed: shadowed.map(({ name, servedBy, alsoIn }) => ({ name, served_by: servedBy, also_in: alsoIn })),
    notes,
  };
}
