import {
  type Answer,
  type Operation,
  type OperationContext,
  operation,
  type Problem,
  problem,
} from '@toolmgr/plugins/kit/operations';
import {
  findConflict,
  isHeldName,
  RESERVED_WORKLOAD_NAMES,
  type RunConfig,
  readRunConfig,
  readWorkload,
  workloadName,
} from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { newFromExported } from '../../workloads/config/from-config.ts';
import { createWorkload } from '../../workloads/planning/create.ts';
import { groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';
import { replaceWorkload } from '../../workloads/planning/replace.ts';
import type { StartWork } from '../../workloads/planning/work.ts';
import type { WorkloadDeps } from './deps.ts';
import { etagOf } from './detail.ts';
import { EXAMPLE_BODY, EXAMPLE_EXPORT } from './examples.ts';
import { hiddenPlaces } from './exported-config.ts';
import { configFromBody } from './from-body.ts';
import { conflictRefusal, fieldRefusal, noWorkload, refusalOf, startRefusal } from './refusals.ts';
import { namedPort, nameInPath } from './shapes.ts';
import { createBody, editBody, type WorkloadBody } from './workload-body.ts';

const TAG = 'workloads';
const NAMED = { name: 'fetch', port: 34_567 };

type New = {
  readonly config: RunConfig;
  readonly secrets: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
};

/** Create, edit and import. */
export function changeOperations(deps: WorkloadDeps): readonly Operation[] {
  const { state } = deps;
  return [
    operation({
      id: 'createWorkload',
      method: 'POST',
      path: '/api/v1beta/workloads',
      tag: TAG,
      summary: 'Create and start a workload',
      description:
        'Answers when the workload answers. One that does not answer is removed. A workload of the same name in the status `error` is replaced.',
      body: createBody,
      bodyExample: EXAMPLE_BODY,
      answers: { 201: { description: 'it runs', schema: namedPort, example: NAMED } },
      problems: ['not_found', 'conflict', 'unprocessable', 'engine_unavailable', 'registry_unavailable'],
      timeLimit: 'long',
      // it runs a program of the caller's choice, so the person confirms it
      tool: { name: 'run_server', destructive: true },
      run: ({ body, context }) =>
        refusing(async () => {
          const refused = (await nameRefusal(state, body.name)) ?? (await groupRefusal(deps, body));
          if (refused !== undefined) return refused;
          const made = await checkedConfig(body, { name: body.name });
          if ('problem' in made) return made;
          return create(state, made, context);
        }),
    }),
    operation({
      id: 'importWorkload',
      method: 'POST',
      path: '/api/v1beta/workloads/import',
      tag: TAG,
      summary: 'Create a workload of an exported configuration',
      description:
        'Takes what `export` answers, also of other implementations: durations as nanoseconds, and `middleware_configs`, which become the fields that they stand for.',
      query: z.strictObject({ name: workloadName.optional().describe('another name') }),
      body: z
        .looseObject({ name: z.string().describe('name of the workload') })
        .describe('an exported run configuration'),
      bodyExample: EXAMPLE_EXPORT,
      answers: { 201: { description: 'it runs', schema: namedPort, example: NAMED } },
      problems: ['not_found', 'conflict', 'unprocessable', 'engine_unavailable'],
      timeLimit: 'long',
      run: ({ body, query, context }) =>
        refusing(async () => {
          const hidden = hiddenPlaces(body);
          if (hidden.length > 0) return fieldRefusal(hidden);
          const read = readRunConfig(query.name === undefined ? body : renamed(body, query.name));
          if ('problems' in read) return fieldRefusal(read.problems.map(fieldOf));
          const refused = await nameRefusal(state, read.config.name);
          if (refused !== undefined) return refused;
          const made = await newFromExported(read.config, { cwd: '/', nowMs: Date.now() });
          return create(state, made, context);
        }),
    }),
    operation({
      id: 'updateWorkload',
      method: 'POST',
      path: '/api/v1beta/workloads/{name}/edit',
      tag: TAG,
      summary: 'Update workload',
      description:
        'Replaces the configuration: what the body leaves out gets its default. What `GET` answers can be sent back unchanged; a hidden value then keeps the stored one. A workload that runs is started again; when it does not start, the old configuration is restored. A stopped one stays stopped. `If-Match` refuses a change that is based on an older configuration.',
      params: nameInPath,
      body: editBody,
      bodyExample: EXAMPLE_BODY,
      answers: { 200: { description: 'it has the configuration', schema: namedPort, example: NAMED } },
      problems: [
        ...(['not_found', 'precondition_failed', 'unprocessable', 'conflict'] as const),
        ...(['engine_unavailable', 'registry_unavailable'] as const),
      ],
      timeLimit: 'long',
      run: ({ path: { name }, body, context }) =>
        refusing(async () => {
          for (let tries = 0; tries < EDIT_TRIES; tries++) {
            const answer = await tryEdit(deps, name, body, context);
            if (answer !== undefined) return answer;
          }
          return problem('conflict', `${name} is changed by others again and again: read it again`);
        }),
    }),
  ];
}

/** An edit that others overtake is made again from what they stored. */
const EDIT_TRIES = 10;

/** `undefined`: another one changed the configuration since it was read, and nothing was done. */
async function tryEdit(
  deps: WorkloadDeps,
  name: string,
  body: WorkloadBody,
  context: OperationContext,
): Promise<Answer | Problem | undefined> {
  const { state } = deps;
  const record = await readWorkload(state, name);
  if (record === undefined) return noWorkload(state, name);
  const { config: base, status } = record;
  if (base === undefined) return problem('unprocessable', status.message ?? 'its configuration cannot be read');
  if (context.ifMatch !== undefined && context.ifMatch !== '*' && context.ifMatch !== etagOf(base))
    return problem('precondition_failed', `${name} was changed since it was read: read it again`);
  if (body.name !== undefined && body.name !== name)
    return fieldRefusal([{ in: 'body', path: 'name', detail: `the name cannot be changed: expected ${name}` }]);
  const refused = await groupRefusal(deps, body, base.group);
  if (refused !== undefined) return refused;
  const port = status.port === undefined ? {} : { port: status.port };
  const made = await checkedConfig(body, { name, base, ...port });
  return 'problem' in made ? made : edit(state, made, base, context);
}

/** An exported configuration under another name. */
function renamed({ base_name: _, container_name: __, ...config }: Readonly<Record<string, unknown>>, name: string) {
  return { ...config, name };
}

/** Faults of the user become refusals. */
async function refusing<T>(act: () => Promise<T | Problem>): Promise<T | Problem> {
  try {
    return await act();
  } catch (cause) {
    return refusalOf(cause);
  }
}

async function checkedConfig(
  body: WorkloadBody,
  to: { readonly name: string; readonly base?: RunConfig; readonly port?: number },
): Promise<New | Problem> {
  const made = await configFromBody(body, { ...to, nowMs: Date.now() });
  if ('errors' in made) return fieldRefusal(made.errors);
  const conflict = findConflict(made.config);
  return conflict === undefined ? made : conflictRefusal(conflict);
}

async function nameRefusal(state: string, name: string): Promise<Problem | undefined> {
  if (RESERVED_WORKLOAD_NAMES.includes(name)) {
    const detail = `${name} is a word of the API: choose another name`;
    return fieldRefusal([{ in: 'body', path: 'name', detail }]);
  }
  const record = await readWorkload(state, name);
  if (record === undefined || isHeldName(record)) {
    return record === undefined
      ? undefined
      : problem('conflict', `there is a workload ${name} already: choose another name`);
  }
  return undefined;
}

async function groupRefusal(
  { state, records }: WorkloadDeps,
  { group = 'default' }: WorkloadBody,
  present?: string,
): Promise<Problem | undefined> {
  if (group === present) return undefined;
  const groups = await groupsOf(state, await records());
  if (groups.some(({ name }) => name === group)) return undefined;
  const detail = unknownGroup(group, groups);
  return problem('not_found', detail, [{ in: 'body', path: 'group', detail }]);
}

async function create(state: string, made: New, context: OperationContext) {
  const { name } = made.config;
  const old = await readWorkload(state, name);
  // a failed workload does not block its name (reference workload-api §4.2)
  if (old !== undefined && !isHeldName(old)) await removeWorkload(state, name, { force: true, id: old.status.id });
  const created = await createWorkload(state, made, workOf(context));
  if (created.kind === 'failed') return startRefusal(created, '; it was removed');
  const { status } = created.record;
  context.publish({ type: 'workload', name, status: status.status });
  return { status: 201, body: { name, port: status.port ?? 0 } };
}

async function edit(state: string, made: New, base: RunConfig, context: OperationContext) {
  const { config } = made;
  const { name } = config;
  const replaced = await replaceWorkload(state, made, workOf(context), { expected: base });
  if (replaced.kind === 'changed') return undefined;
  if (replaced.kind === 'gone') return noWorkload(state, name);
  if (replaced.kind === 'failed') {
    const after = replaced.restored
      ? `; the old configuration is restored${replaced.runsAgain ? ' and runs' : ''}`
      : '; nothing was changed';
    context.publish({ type: 'workload', name, status: replaced.runsAgain ? 'running' : 'error' });
    return startRefusal(replaced, after);
  }
  const now = replaced.kind === 'replaced' ? replaced.record : await readWorkload(state, name);
  if (replaced.kind === 'replaced') context.publish({ type: 'workload', name, status: replaced.record.status.status });
  return { status: 200, body: { name, port: config.port || (now?.status.port ?? 0) } };
}

function workOf({ signal }: OperationContext): StartWork {
  return { signal, report: () => {} };
}

/** A fault `field: why` of an imported configuration. */
function fieldOf(fault: string) {
  const colon = fault.indexOf(': ');
  return {
    in: 'body' as const,
    path: colon < 0 ? '' : fault.slice(0, colon),
    detail: fault.slice(colon < 0 ? 0 : colon + 2),
  };
}
