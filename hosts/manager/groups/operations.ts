import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import {
  changeConfig,
  createGroup,
  DEFAULT_GROUP,
  groupName,
  newGroupName,
  readGroup,
  removeGroup,
} from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';
import type { WorkloadDeps } from '../workloads/deps.ts';

const TAG = 'groups';

const group = z
  .strictObject({
    name: z.string().describe('name'),
    registered_clients: z.array(z.string()).describe('types of the clients that get its workloads'),
    skills: z.array(z.string()).describe('names of its skills'),
  })
  .describe('a group of workloads');

const EXAMPLE = { name: 'default', registered_clients: ['cursor'], skills: [] };

const inPath = z.strictObject({ name: groupName.describe('name of the group') });

/** What the operations of groups need: `moved` is called after workloads of a removed group went to `default`. */
export interface GroupDeps extends WorkloadDeps {
  moved?(group: string, workloads: readonly string[]): Promise<void>;
}

/** The operations of groups. */
export function groupOperations({ state, records, moved }: GroupDeps): readonly Operation[] {
  const all = async () => groupsOf(state, await records());
  return [
    operation({
      id: 'listGroups',
      method: 'GET',
      path: '/api/v1beta/groups',
      tag: TAG,
      summary: 'List groups',
      answers: {
        200: {
          description: 'the groups',
          schema: z.strictObject({ groups: z.array(group) }),
          example: { groups: [EXAMPLE] },
        },
      },
      problems: [],
      tool: { name: 'list_groups', readOnly: true, idempotent: true },
      async run() {
        const names = (await all()).map(({ name }) => name);
        const groups = await Promise.all(names.map((name) => readGroup(state, name)));
        return { status: 200, body: { groups: groups.filter((each) => each !== undefined) } };
      },
    }),
    operation({
      id: 'createGroup',
      method: 'POST',
      path: '/api/v1beta/groups',
      tag: TAG,
      summary: 'Create a group',
      body: z.strictObject({ name: newGroupName.describe('name of the group') }),
      bodyExample: { name: 'team' },
      answers: {
        201: {
          description: 'it is created',
          schema: z.strictObject({ name: z.string().describe('name') }),
          example: { name: 'team' },
        },
      },
      problems: ['conflict'],
      async run({ body: { name }, context }) {
        if ((await createGroup(state, name)) !== 'created')
          return problem('conflict', `there is a group ${name} already`);
        context.publish({ type: 'group', name });
        return { status: 201, body: { name } };
      },
    }),
    operation({
      id: 'getGroup',
      method: 'GET',
      path: '/api/v1beta/groups/{name}',
      tag: TAG,
      summary: 'Get a group',
      params: inPath,
      answers: { 200: { description: 'the group', schema: group, example: EXAMPLE } },
      problems: ['not_found'],
      async run({ path: { name } }) {
        const found = await readGroup(state, name);
        return found === undefined
          ? problem('not_found', unknownGroup(name, await all()))
          : { status: 200, body: found };
      },
    }),
    operation({
      id: 'deleteGroup',
      method: 'DELETE',
      path: '/api/v1beta/groups/{name}',
      tag: TAG,
      summary: 'Delete a group',
      description: 'Its workloads go to the group `default`, or are stopped and removed `with-workloads`.',
      params: inPath,
      query: z.strictObject({
        'with-workloads': z
          .enum(['true', 'false'])
          .default('false')
          .transform((text) => text === 'true')
          .describe('its workloads are stopped and removed'),
      }),
      answers: { 204: { description: 'it is deleted' } },
      problems: ['not_found', 'unprocessable'],
      timeLimit: 'long',
      async run({ path: { name }, query, context }) {
        if (name === DEFAULT_GROUP) return problem('bad_request', `the group ${DEFAULT_GROUP} cannot be deleted`);
        const groups = await all();
        const found = groups.find((each) => each.name === name);
        if (found === undefined) return problem('not_found', unknownGroup(name, groups));
        for (const workload of found.workloads) {
          if (!query['with-workloads']) {
            await changeConfig(state, workload, (config) => ({ ...config, group: DEFAULT_GROUP }));
          } else {
            const outcome = await removeWorkload(state, workload, { force: true });
            if (outcome.kind === 'refused') return problem('unprocessable', outcome.problem);
          }
          context.publish({ type: 'workload', name: workload, status: query['with-workloads'] ? 'removed' : 'moved' });
        }
        if (!query['with-workloads']) await moved?.(name, found.workloads);
        await removeGroup(state, name);
        context.publish({ type: 'group', name });
        return { status: 204 };
      },
    }),
  ];
}
