import { nearest } from '@toolmgr/core';
import {
  type Operation,
  type OperationContext,
  operation,
  type Problem,
  problem,
} from '@toolmgr/plugins/kit/operations';
import { groupName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { endpointEntry } from './registration/client-record.ts';
import {
  type ClientRefusal,
  clientStatuses,
  listRegistrations,
  previewRegistration,
  registerClients,
  unregisterClients,
} from './registration/clients.ts';
import type { RegistrationPlaces } from './registration/registrations.ts';
import { CLIENT_TYPES, type ClientType, isClientType } from './table/client-table.ts';

const clientType = z
  .string()
  .superRefine((name, context) => {
    if (isClientType(name)) return;
    const hint = nearest(name, CLIENT_TYPES);
    const message = hint === undefined ? `expected one of ${CLIENT_TYPES.join(', ')}` : `did you mean ${hint}?`;
    context.addIssue({ code: 'custom', message: `is not a client: ${message}` });
  })
  .transform((name) => name as ClientType)
  .meta({ enum: [...CLIENT_TYPES], description: 'type of a client' });

const groups = z.array(groupName).max(100).optional().describe('names of groups; default: the group default');
const names = z
  .array(clientType)
  .min(1)
  .max(CLIENT_TYPES.length * 2);

const choices = {
  endpoint: endpointEntry.optional().describe('one entry for this endpoint instead of one for each workload'),
  force: z.boolean().optional().describe('overwrite entries that toolmgr did not write'),
};

const registration = z.strictObject({
  name: z.string().describe('type of the client'),
  groups: z.array(z.string()).describe('groups that it is registered with'),
});

const status = z.strictObject({
  client_type: z.string(),
  installed: z.boolean().describe('the client is on this machine'),
  registered: z.boolean().describe('it is registered with a group'),
  supports_plugins: z.boolean().describe('agent plugins can be installed for it'),
  supports_skills: z.boolean().describe('skills can be installed for it'),
});

const change = z.strictObject({
  client: z.string(),
  path: z.string().describe('the configuration file of the client'),
  added: z.array(z.string()).describe('names of entries'),
  updated: z.array(z.string()),
  removed: z.array(z.string()),
  conflicts: z
    .array(z.strictObject({ name: z.string(), why: z.string() }))
    .describe('entries that are left as they are, because toolmgr did not write them'),
  diff: z.string().describe('unified diff; values that toolmgr did not write are masked. Empty: nothing changes'),
});

const REGISTRATION = { name: 'cursor', groups: ['default'] };
const STATUS = {
  client_type: 'cursor',
  installed: true,
  registered: true,
  supports_plugins: false,
  supports_skills: true,
};
const CHANGE = {
  client: 'cursor',
  path: '/home/ada/.cursor/mcp.json',
  added: ['fetch'],
  updated: [],
  removed: [],
  conflicts: [],
  diff: '',
};

/** Operations about clients. */
export function clientOperations(places: RegistrationPlaces): readonly Operation[] {
  return [...readOperations(places), ...registerOperations(places), ...unregisterOperations(places)];
}

function readOperations(places: RegistrationPlaces): readonly Operation[] {
  return [
    operation({
      id: 'listClientStatuses',
      method: 'GET',
      path: '/api/v1beta/discovery/clients',
      tag: 'clients',
      summary: 'List all clients status',
      answers: {
        200: {
          description: 'every known client',
          schema: z.strictObject({ clients: z.array(status) }),
          example: { clients: [STATUS] },
        },
      },
      problems: [],
      tool: { name: 'list_client_statuses', readOnly: true },
      run: async () => ({ status: 200, body: { clients: await clientStatuses(places) } }),
    }),
    operation({
      id: 'listClients',
      method: 'GET',
      path: '/api/v1beta/clients',
      tag: 'clients',
      summary: 'List the registered clients',
      answers: {
        200: { description: 'clients with their groups', schema: z.array(registration), example: [REGISTRATION] },
      },
      problems: [],
      tool: { name: 'list_clients', readOnly: true },
      run: async () => ({ status: 200, body: await listRegistrations(places) }),
    }),
    operation({
      id: 'previewClients',
      method: 'POST',
      path: '/api/v1beta/clients/preview',
      tag: 'clients',
      summary: 'Show what a registration, or its removal, would write',
      description: 'Nothing is changed.',
      body: z.strictObject({
        action: z.enum(['register', 'unregister']).default('register'),
        names,
        groups,
        ...choices,
      }),
      bodyExample: { names: ['cursor'] },
      answers: { 200: { description: 'one change for each client', schema: z.array(change), example: [CHANGE] } },
      problems: ['bad_request', 'not_found', 'conflict'],
      tool: { name: 'preview_clients', readOnly: true },
      async run({ body: { action, ...wish } }) {
        const changes =
          action === 'register'
            ? await previewRegistration(places, wish)
            : await unregisterClients(places, { names: wish.names, groups: wish.groups, dryRun: true });
        return 'refused' in changes ? refusal(changes) : { status: 200, body: changes };
      },
    }),
  ];
}

const PROBLEMS = ['bad_request', 'not_found', 'conflict'] as const;

function registerOperations(places: RegistrationPlaces): readonly Operation[] {
  return [
    operation({
      id: 'registerClient',
      method: 'POST',
      path: '/api/v1beta/clients',
      tag: 'clients',
      summary: 'Register a new client',
      description: REGISTER,
      body: z.strictObject({ name: clientType, groups, ...choices }),
      bodyExample: { name: 'cursor', groups: ['default'] },
      answers: {
        200: {
          description: 'the registration',
          schema: registration,
          example: { name: 'cursor', groups: ['default'] },
        },
      },
      problems: PROBLEMS,
      // an endpoint of the caller's choice, and entries of the user, are confirmed by the person
      tool: { name: 'register_client', destructive: { when: ['endpoint', 'force'] } },
      async run({ body: { name, ...wish }, context }) {
        const done = await registerClients(places, { names: [name], ...wish });
        if ('refused' in done) return refusal(done);
        publish(context, [name]);
        return { status: 200, body: done.registrations[0] };
      },
    }),
    operation({
      id: 'registerClients',
      method: 'POST',
      path: '/api/v1beta/clients/register',
      tag: 'clients',
      summary: 'Register multiple clients',
      description: REGISTER,
      body: z.strictObject({ names, groups, ...choices }),
      bodyExample: { names: ['cursor', 'codex'] },
      answers: { 200: { description: 'the registrations', schema: z.array(registration), example: [REGISTRATION] } },
      problems: PROBLEMS,
      async run({ body, context }) {
        const done = await registerClients(places, body);
        if ('refused' in done) return refusal(done);
        publish(context, body.names);
        return { status: 200, body: done.registrations };
      },
    }),
  ];
}

const REGISTER =
  'The entries of the running workloads of the groups are written into the configuration file of the client, and kept up to date. An entry that toolmgr did not write is not overwritten: 409, and nothing is changed.';

function unregisterOperations(places: RegistrationPlaces): readonly Operation[] {
  const unregister = async (
    types: readonly ClientType[],
    from: readonly string[] | undefined,
    context: OperationContext,
  ) => {
    const done = await unregisterClients(places, { names: types, groups: from });
    if ('refused' in done) return refusal(done);
    publish(context, types);
    return { status: 204 };
  };
  const description = 'Entries that were changed after toolmgr wrote them stay.';
  return [
    operation({
      id: 'unregisterClients',
      method: 'POST',
      path: '/api/v1beta/clients/unregister',
      tag: 'clients',
      summary: 'Unregister multiple clients',
      description,
      body: z.strictObject({ names, groups: groups.describe('groups to leave; default: all') }),
      bodyExample: { names: ['cursor'] },
      answers: { 204: { description: 'they are unregistered' } },
      problems: PROBLEMS,
      run: ({ body, context }) => unregister(body.names, body.groups, context),
    }),
    operation({
      id: 'unregisterClient',
      method: 'DELETE',
      path: '/api/v1beta/clients/{name}',
      tag: 'clients',
      summary: 'Unregister a client from all groups',
      description,
      params: z.strictObject({ name: clientType }),
      answers: { 204: { description: 'it is unregistered' } },
      problems: PROBLEMS,
      tool: { name: 'unregister_client', destructive: true, idempotent: true },
      run: ({ path, context }) => unregister([path.name], undefined, context),
    }),
    operation({
      id: 'unregisterClientFromGroup',
      method: 'DELETE',
      path: '/api/v1beta/clients/{name}/groups/{group}',
      tag: 'clients',
      summary: 'Unregister a client from one group',
      description,
      params: z.strictObject({ name: clientType, group: groupName }),
      answers: { 204: { description: 'it is unregistered' } },
      problems: PROBLEMS,
      run: ({ path, context }) => unregister([path.name], [path.group], context),
    }),
  ];
}

function publish({ publish: send }: OperationContext, types: readonly ClientType[]): void {
  for (const name of new Set(types)) send({ type: 'client', name });
}

const CODES = {
  invalid: 'bad_request',
  'unknown-group': 'not_found',
  conflict: 'conflict',
  'bad-file': 'conflict',
  failed: 'internal_error',
} as const;

function refusal({ refused, detail }: ClientRefusal): Problem {
  return problem(CODES[refused], detail);
}
