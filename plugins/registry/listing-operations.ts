import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { isEntryName } from './entry-text.ts';
import {
  findSkill,
  type ListingQuery,
  limitFrom,
  listServers,
  listSkills,
  pageFrom,
  serverVersion,
  versionsOf,
} from './listing.ts';
import type { MergedRegistry } from './merge-registries.ts';
import { isRecordName } from './records/read-record.ts';
import { serverRecord, skillRecord } from './records/record-shapes.ts';
import type { Registries } from './registries.ts';

// The registry-server listing API. Readers of the API of the official registry read it too.

const TAG = 'Registry listing';
const BASE = '/registry/{registryName}/v0.1';
const SKILLS = `${BASE}/x/dev.toolmgr/skills`;

const registryName = z
  .string()
  .max(200)
  .describe('is accepted and ignored: the merged view of all registries is served')
  .meta({ examples: ['default'] });
const serverName = z
  .string()
  .max(400)
  .describe('reverse-DNS style name, whose slash is written as `%2F`, or the last part of it when that is unique')
  .meta({ examples: ['dev.toolmgr/github'] });

const paging = {
  page: z.string().max(32).optional().describe('page, from 1; default 1, also for what is no such number'),
  limit: z
    .string()
    .max(32)
    .optional()
    .describe('items on a page; default 50, also for what is no such number; larger ones are 200'),
  cursor: z.string().max(2_000).optional().describe('`metadata.nextCursor` of the page before, instead of `page`'),
};

const metadata = z.object({
  limit: z.int().describe('largest number of items on the page'),
  page: z.int().describe('number of the page, from 1'),
  total: z.int().describe('number of all items that match'),
  count: z.int().describe('number of items on this page'),
  nextCursor: z.string().optional().describe('`cursor` of the next page; absent on the last one'),
});

const served = serverRecord
  .extend({ server: serverRecord.describe('the record again, where readers of the official registry look') })
  .describe('one version of a server');
const serverPage = z.object({ servers: z.array(served), metadata });

const EXAMPLE_RECORD = {
  name: 'io.github.org/notes',
  description: 'Notes',
  version: '1.2.0',
  packages: [{ registryType: 'npm', identifier: '@org/notes', version: '1.2.0', transport: { type: 'stdio' } }],
};
const SERVED_EXAMPLE = { ...EXAMPLE_RECORD, server: EXAMPLE_RECORD };
const SKILL_EXAMPLE = { namespace: 'io.github.org', name: 'review', description: 'Reviews code', version: '1.0.0' };
const METADATA_EXAMPLE = { limit: 50, page: 1, total: 1, count: 1 };

const CODES = ['registry_auth_required', 'registry_unavailable', 'internal_error'] as const;

/** The operations of the registry-server listing API. */
export function listingOperations(registries: Pick<Registries, 'load'>): readonly Operation[] {
  const from = async (signal: AbortSignal): Promise<MergedRegistry | Problem> => {
    const loaded = await registries.load({ signal });
    if ('registry' in loaded) return loaded.registry;
    if (loaded.kind === 'auth') return problem('registry_auth_required', `${loaded.problem}. ${SIGN_IN}`);
    return problem(loaded.kind === 'invalid' ? 'internal_error' : 'registry_unavailable', loaded.problem);
  };
  const getVersion = async (name: string, version: string, signal: AbortSignal) => {
    if (!isName(name)) return problem('bad_request', NOT_A_NAME);
    const registry = await from(signal);
    if ('problem' in registry) return registry;
    const body = serverVersion(registry, name, version);
    return body === undefined ? noServer(name) : { status: 200, body };
  };
  return [
    operation({
      id: 'listRegistryServers',
      method: 'GET',
      path: `${BASE}/servers`,
      tag: TAG,
      summary: 'List available registry servers',
      description:
        'Servers in the order of name and version. `search`, `version`, `updated_since` and `cursor` are parameters of the official registry.',
      params: z.strictObject({ registryName }),
      query: z.strictObject({
        q: z.string().max(500).optional().describe('part of a name or description, in any case'),
        ...paging,
        search: z.string().max(500).optional().describe('part of a name, in any case'),
        version: z.string().max(255).optional().describe('`latest`, or one version; default: all versions'),
        updated_since: z.iso
          .datetime({ offset: true })
          .optional()
          .describe('only servers that changed since this time'),
        include_deleted: z
          .enum(['true', 'false'])
          .optional()
          .describe('is accepted for readers of the official registry; there are no deleted servers'),
      }),
      answers: {
        200: {
          description: 'One page of the servers.',
          schema: serverPage,
          example: { servers: [SERVED_EXAMPLE], metadata: METADATA_EXAMPLE },
        },
      },
      problems: CODES,
      async run({ query, context }) {
        const registry = await from(context.signal);
        if ('problem' in registry) return registry;
        return { status: 200, body: listServers(registry, queryFrom(query)) };
      },
    }),
    operation({
      id: 'getRegistryServer',
      method: 'GET',
      path: `${BASE}/servers/{serverName}/versions/latest`,
      tag: TAG,
      summary: 'Get a registry server',
      params: z.strictObject({ registryName, serverName }),
      answers: { 200: { description: 'The latest version of the server.', schema: served, example: SERVED_EXAMPLE } },
      problems: ['not_found', ...CODES],
      run: ({ path, context }) => getVersion(path.serverName, 'latest', context.signal),
    }),
    operation({
      id: 'listRegistryServerVersions',
      method: 'GET',
      path: `${BASE}/servers/{serverName}/versions`,
      tag: TAG,
      summary: 'List the versions of a registry server',
      params: z.strictObject({ registryName, serverName }),
      answers: {
        200: {
          description: 'The versions that the registry has, the latest first.',
          schema: serverPage,
          example: { servers: [SERVED_EXAMPLE], metadata: METADATA_EXAMPLE },
        },
      },
      problems: ['not_found', ...CODES],
      async run({ path, context }) {
        if (!isName(path.serverName)) return problem('bad_request', NOT_A_NAME);
        const registry = await from(context.signal);
        if ('problem' in registry) return registry;
        const servers = versionsOf(registry, path.serverName);
        const total = servers.length;
        if (total === 0) return noServer(path.serverName);
        return { status: 200, body: { servers, metadata: { limit: total, page: 1, total, count: total } } };
      },
    }),
    operation({
      id: 'getRegistryServerVersion',
      method: 'GET',
      path: `${BASE}/servers/{serverName}/versions/{version}`,
      tag: TAG,
      summary: 'Get one version of a registry server',
      params: z.strictObject({ registryName, serverName, version: z.string().max(255).describe('version') }),
      answers: { 200: { description: 'This version of the server.', schema: served, example: SERVED_EXAMPLE } },
      problems: ['not_found', ...CODES],
      run: ({ path, context }) => getVersion(path.serverName, path.version, context.signal),
    }),
    operation({
      id: 'listRegistrySkills',
      method: 'GET',
      path: SKILLS,
      tag: TAG,
      summary: 'List available registry skills',
      params: z.strictObject({ registryName }),
      query: z.strictObject({
        q: z.string().max(500).optional().describe('part of a name, namespace or description, in any case'),
        ...paging,
      }),
      answers: {
        200: {
          description: 'One page of the skills.',
          schema: z.object({ skills: z.array(skillRecord), metadata }),
          example: { skills: [SKILL_EXAMPLE], metadata: METADATA_EXAMPLE },
        },
      },
      problems: CODES,
      async run({ query, context }) {
        const registry = await from(context.signal);
        if ('problem' in registry) return registry;
        return { status: 200, body: listSkills(registry, queryFrom(query)) };
      },
    }),
    operation({
      id: 'getRegistrySkill',
      method: 'GET',
      path: `${SKILLS}/{namespace}/{skillName}`,
      tag: TAG,
      summary: 'Get a registry skill',
      params: z.strictObject({
        registryName,
        namespace: z
          .string()
          .max(200)
          .describe('reverse-DNS form')
          .meta({ examples: ['io.github.org'] }),
        skillName: z
          .string()
          .max(200)
          .describe('name of the skill')
          .meta({ examples: ['review'] }),
      }),
      answers: {
        200: { description: 'The latest version of the skill.', schema: skillRecord, example: SKILL_EXAMPLE },
      },
      problems: ['not_found', ...CODES],
      async run({ path, context }) {
        const registry = await from(context.signal);
        if ('problem' in registry) return registry;
        const body = findSkill(registry, path.namespace, path.skillName);
        if (body !== undefined) return { status: 200, body };
        return problem('not_found', 'there is no such skill; GET the list of skills for all names');
      },
    }),
  ];
}

/** What to do about `registry_auth_required`. */
export const SIGN_IN = 'Sign in: POST /api/v1beta/registry/auth/login, or toolmgr registry login';

function isName(name: string): boolean {
  return isRecordName(name) || isEntryName(name);
}

const NOT_A_NAME = 'serverName: expected NAME or NAMESPACE%2FNAME of letters, digits, dots, hyphens and underscores';

function noServer(name: string): Problem {
  return problem('not_found', `there is no server ${name} of this version; GET the list of servers for all names`);
}

interface GivenQuery {
  readonly q?: string | undefined;
  readonly page?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
  readonly search?: string | undefined;
  readonly version?: string | undefined;
  readonly updated_since?: string | undefined;
}

function queryFrom({ page, limit, updated_since: updatedSince, ...others }: GivenQuery): ListingQuery {
  const given = Object.entries({ ...others, updatedSince }).filter(([, value]) => value !== undefined);
  return { page: pageFrom(page), limit: limitFrom(limit), ...Object.fromEntries(given) };
}
