import {
  type JobOutcome,
  type Operation,
  type OperationContext,
  operation,
  problem,
} from '@toolmgr/plugins/kit/operations';
import { readWorkload } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';
import { moveText, restartWorkload } from '../../workloads/planning/start.ts';
import { stopWorkload } from '../../workloads/planning/stop.ts';
import type { WorkloadDeps } from './deps.ts';
import { noWorkload } from './refusals.ts';
import { bulkBody, nameInPath } from './shapes.ts';

const TAG = 'workloads';

/** What can be done with many workloads at once. */
type Verb = 'delete' | 'restart' | 'stop';

type Act = (
  state: string,
  name: string,
  work: { readonly signal: AbortSignal; report(step: string): void },
) => Promise<JobOutcome & { readonly now?: string }>;

const ACTS: Readonly<Record<Verb, Act>> = {
  async delete(state, name, { report }) {
    report(`${name} is removed`);
    const outcome = await removeWorkload(state, name, { force: true });
    if (outcome.kind === 'gone') return unknown(name);
    if (outcome.kind === 'refused') return { status: 'failed', detail: outcome.problem };
    const detail = outcome.kind === 'left' ? { detail: outcome.problem } : {};
    return { status: 'done', ...detail, now: 'removed' };
  },
  async stop(state, name, { report }) {
    report(`${name} stops`);
    const outcome = await stopWorkload(state, name);
    if (outcome.kind === 'gone') return unknown(name);
    if (outcome.kind === 'left') return { status: 'failed', detail: outcome.problem };
    return outcome.kind === 'idle'
      ? { status: 'unchanged', detail: 'it did not run' }
      : { status: 'done', now: 'stopped' };
  },
  async restart(state, name, work) {
    const outcome = await restartWorkload(state, name, work);
    if (outcome.kind === 'gone') return unknown(name);
    if (outcome.kind === 'failed') return { status: 'failed', detail: outcome.reason, now: 'error' };
    const moved = outcome.kind === 'running' ? moveText(outcome) : undefined;
    return { status: 'done', detail: moved ?? `it runs at ${outcome.record.status.url}`, now: 'running' };
  },
};

function unknown(name: string): JobOutcome {
  return { status: 'failed', detail: `there is no workload ${name}` };
}

const WORDS: Readonly<Record<Verb, { readonly title: string; readonly tool: string; readonly about: string }>> = {
  delete: { title: 'Delete', tool: 'delete_servers', about: 'stops and removes them with their logs' },
  restart: { title: 'Restart', tool: 'restart_servers', about: 'stops those that run, and starts all of them' },
  stop: { title: 'Stop', tool: 'stop_servers', about: 'keeps their configuration' },
};

/** Delete, restart and stop: many workloads by names or group, and single ones. */
export function bulkOperations(deps: WorkloadDeps): readonly Operation[] {
  return (['delete', 'restart', 'stop'] as const).flatMap((verb) => [bulk(deps, verb), single(deps, verb)]);
}

const ACCEPTED = {
  description: 'accepted; the work runs after the answer',
  schema: z.string().describe('what was accepted'),
  headers: { Location: 'the operation: its progress, and the outcome of each workload' },
};

function bulk({ state, records }: WorkloadDeps, verb: Verb): Operation {
  const { title, tool, about } = WORDS[verb];
  return operation({
    id: `${verb}Workloads`,
    method: 'POST',
    path: `/api/v1beta/workloads/${verb}`,
    tag: TAG,
    summary: `${title} workloads in bulk`,
    description: `By names or by group, exactly one of them; ${about}. Each workload is independent of the others. A name that no workload has is a failed item.`,
    body: bulkBody,
    bodyExample: { names: ['fetch', 'time'] },
    answers: { 202: { ...ACCEPTED, example: `2 workloads: ${verb}` } },
    problems: [],
    tool: {
      name: tool,
      ...(verb === 'delete' ? { destructive: true } : {}),
      ...(verb === 'stop' ? { destructive: true, idempotent: true } : {}),
    },
    async run({ body: { names, group }, context }) {
      if (names !== undefined) return accepted(context, state, verb, [...new Set(names)]);
      const found = await records();
      const groups = await groupsOf(state, found);
      const members = groups.find(({ name }) => name === group);
      if (group === undefined || members === undefined) {
        const detail = unknownGroup(group ?? '', groups);
        return problem('bad_request', detail, [{ in: 'body', path: 'group', detail }]);
      }
      return accepted(context, state, verb, members.workloads);
    },
  });
}

function single({ state }: WorkloadDeps, verb: Verb): Operation {
  const { title } = WORDS[verb];
  return operation({
    id: `${verb}Workload`,
    method: verb === 'delete' ? 'DELETE' : 'POST',
    path: verb === 'delete' ? '/api/v1beta/workloads/{name}' : `/api/v1beta/workloads/{name}/${verb}`,
    tag: TAG,
    summary: `${title} a workload`,
    params: nameInPath,
    answers: { 202: { ...ACCEPTED, example: `1 workload: ${verb}` } },
    problems: ['not_found'],
    async run({ path: { name }, context }) {
      if ((await readWorkload(state, name)) === undefined) return noWorkload(state, name);
      return accepted(context, state, verb, [name]);
    },
  });
}

function accepted({ jobs, publish }: OperationContext, state: string, verb: Verb, names: readonly string[]) {
  const items = names.map((name) => ({
    name,
    async run(report: (step: string) => void, signal: AbortSignal): Promise<JobOutcome> {
      const { now, ...outcome } = await ACTS[verb](state, name, { signal, report });
      if (now !== undefined) publish({ type: 'workload', name, status: now });
      return outcome;
    },
  }));
  const what = `${names.length} ${names.length === 1 ? 'workload' : 'workloads'}: ${verb}`;
  const id = jobs.start(what, items);
  return { status: 202, body: what, headers: { Location: `/api/v1beta/operations/${id}` } };
}
