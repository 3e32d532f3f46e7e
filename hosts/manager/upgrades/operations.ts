import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { secretReference, type WorkloadRecord, workloadName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import type { Work } from '../../workloads/planning/work.ts';
import type { Applied, UpgradeOptions } from './apply-upgrade.ts';
import { UPGRADE_STATUSES, type UpgradeCheck } from './upgrade-result.ts';

/** What the operations need. */
export interface UpgradeDeps {
  /** One workload; `undefined` when there is none. */
  read(name: string): Promise<WorkloadRecord | undefined>;
  /** Every workload that is selected; `undefined` when the group does not exist. */
  select(chosen: { readonly all: boolean; readonly group?: string }): Promise<readonly WorkloadRecord[] | undefined>;
  check(records: readonly WorkloadRecord[], signal: AbortSignal): Promise<readonly UpgradeCheck[]>;
  apply(name: string, options: UpgradeOptions, work: Work): Promise<Applied>;
}

const TAG = 'Workload upgrades';
const text = (what: string) => z.string().optional().describe(what);

const change = (what: string) =>
  z
    .object({
      from: z.string().describe('what the workload has'),
      to: z.string().describe('what the registry entry has'),
    })
    .optional()
    .describe(what);

const variable = z.object({
  name: z.string().describe('name of the environment variable'),
  description: text('what it is for'),
  required: z.boolean().describe('the server does not start without it'),
  secret: z.boolean().describe('its value is a secret'),
  default: text('value where none is given; never that of a secret'),
});

/** Source: HTTP API spec §2 "Workload upgrade check result". */
const checkResult = z.object({
  workload_name: z.string().describe('name of the workload'),
  status: z.enum(UPGRADE_STATUSES).describe('how its image compares with that of the registry'),
  current_image: text('image of the workload'),
  candidate_image: text('image of its entry in the registry, or the newest release of its package'),
  registry_server: text('name of the entry that it was made from'),
  reason: text('why the status is what it is'),
  config_drift: z
    .object({
      permission_profile: change('name of the permission profile'),
      transport: change('transport of the server'),
    })
    .optional()
    .describe('settings of the entry that differ; an upgrade does not apply them'),
  env_var_drift: z
    .object({
      added: z.array(variable).describe('variables of the entry that the workload does not set'),
      removed: z.array(variable).describe('variables that the workload sets and the entry does not have'),
    })
    .optional()
    .describe('variables that differ'),
  tools_drift: z
    .object({
      added: z.array(z.string()).describe('tools that it did not have before'),
      removed: z.array(z.string()).describe('tools that it has no longer'),
      changed: z.array(z.string()).describe('tools whose definition is another one'),
    })
    .optional()
    .describe('tools of a workload that ran, before and after an upgrade that was applied'),
});

const EXAMPLE = {
  workload_name: 'time',
  status: 'upgrade-available',
  current_image: 'ghcr.io/org/time:1.2.0',
  candidate_image: 'ghcr.io/org/time:1.3.0',
  registry_server: 'time',
  env_var_drift: { added: [{ name: 'TIME_ZONE', required: false, secret: false, default: 'UTC' }], removed: [] },
};

const path = z.strictObject({ name: workloadName.describe('name of the workload') });
const one = (description: string, example: object) => ({
  description,
  schema: z.object({ result: checkResult }),
  example: { result: example },
});

const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');

const body = z.strictObject({
  version: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe(
      'the version of its image or package to run, newer or older, instead of the one that its registry offers',
    ),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of a variable' }),
      z.string().max(32_768),
    )
    .optional()
    .describe('variables to add or to change; secrets are given in `secrets`'),
  secrets: z
    .array(secretReference)
    .max(1_000)
    .optional()
    .describe('references `NAME,target=VARIABLE` to secrets of the provider; values are not accepted'),
});

/** Checks and applies upgrades of workloads. Source: HTTP API spec §4 "Workload upgrades". */
export function upgradeOperations(deps: UpgradeDeps): readonly Operation[] {
  return [checkMany(deps), checkOne(deps), apply(deps)];
}

function checkMany({ select, check }: UpgradeDeps): Operation {
  return operation({
    id: 'checkWorkloadUpgrades',
    method: 'GET',
    path: '/api/v1beta/workloads/upgrade-check',
    tag: TAG,
    summary: 'Check workloads for available upgrades',
    description:
      'Compares the images of workloads with those of their registry entries, and packages (`npx://`, `uvx://`, `go://`) without an entry with the newest release in the npm registry, Python index or Go proxy of the user. No image or package is pulled. A workload that cannot be compared has the status `unknown` and a reason.',
    query: z.strictObject({
      all: flag.describe('stopped workloads too'),
      group: z.string().optional().describe('only workloads of this group'),
    }),
    answers: {
      200: {
        description: 'a result for each workload, sorted by name',
        schema: z.object({ results: z.array(checkResult) }),
        example: { results: [EXAMPLE] },
      },
    },
    problems: ['not_found'],
    tool: { name: 'check_workload_upgrades', readOnly: true },
    async run({ query: { all, group }, context }) {
      const records = await select({ all, ...(group === undefined ? {} : { group }) });
      if (records === undefined) return problem('not_found', `there is no group ${group}`);
      return { status: 200, body: { results: await check(records, context.signal) } };
    },
  });
}

function checkOne({ read, check }: UpgradeDeps): Operation {
  return operation({
    id: 'checkWorkloadUpgrade',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/upgrade-check',
    tag: TAG,
    summary: 'Check a workload for an available upgrade',
    description:
      'Compares the image of a workload with that of its registry entry, or its package with the newest release. No image or package is pulled.',
    params: path,
    answers: { 200: one('the result', EXAMPLE) },
    problems: ['not_found'],
    async run({ path: { name }, context }) {
      const record = await read(name);
      if (record === undefined) return missing(name);
      const [result] = await check([record], context.signal);
      return { status: 200, body: { result } };
    },
  });
}

function apply({ apply }: UpgradeDeps): Operation {
  return operation({
    id: 'applyWorkloadUpgrade',
    method: 'POST',
    path: '/api/v1beta/workloads/{name}/upgrade',
    tag: TAG,
    summary: 'Apply an available upgrade to a workload',
    description:
      'Checks again, verifies the image of the registry entry, pulls it and then recreates the workload with it, or with the newest release of its package. Its configuration is kept. When the new one does not become ready, the old one is restored and the answer is 500. After a success the status is `up-to-date` and `current_image` is the new image; a workload without an upgrade is not changed, and the answer is its check.',
    params: path,
    body,
    bodyOptional: true,
    bodyExample: { env: { TIME_ZONE: 'UTC' }, secrets: ['api-key,target=API_KEY'] },
    timeLimit: 'long',
    answers: {
      200: one('what the workload has now', {
        workload_name: 'time',
        status: 'up-to-date',
        current_image: 'ghcr.io/org/time:1.3.0',
        candidate_image: 'ghcr.io/org/time:1.3.0',
        registry_server: 'time',
        reason: 'it was upgraded from ghcr.io/org/time:1.2.0 to ghcr.io/org/time:1.3.0',
      }),
    },
    problems: ['not_found', 'unprocessable'],
    tool: { name: 'upgrade_workload', destructive: true },
    async run({ path: { name }, body: options, context }) {
      const report = (step: string): void => context.report?.(step);
      const applied = await apply(name, options ?? {}, { signal: context.signal, report });
      if (applied.kind === 'gone') return missing(name);
      if (applied.kind === 'refused') return problem('unprocessable', `${name} was not changed: ${applied.reason}`);
      if (applied.kind !== 'unchanged') context.publish({ type: 'workload', name, status: statusAfter(applied) });
      if (applied.kind === 'failed') return problem('internal_error', `${name} was not upgraded: ${applied.reason}`);
      if (applied.kind === 'applied') for (const warning of applied.warnings) context.report?.(warning, 'warning');
      return { status: 200, body: { result: applied.result } };
    },
  });
}

function statusAfter({ kind }: Applied): string {
  return kind === 'applied' ? 'running' : 'unknown';
}

function missing(name: string) {
  return problem('not_found', `there is no workload ${name}`);
}
