import { join } from 'node:path';
import { type Operation, type OperationContext, operation } from '@toolmgr/plugins/kit/operations';
import { readWorkload, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { followLog, tailLog } from '../../workloads/planning/tail-log.ts';
import type { WorkloadDeps } from './deps.ts';
import { noWorkload } from './refusals.ts';
import { nameInPath } from './shapes.ts';

/** Lines of a log. Source: reference workload-api §3.3. */
const LINES = 1_000;

const logQuery = z.strictObject({
  follow: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('new lines are sent as they come'),
});

/** The output of a workload and the log of its proxy. */
export function logOperations({ state }: WorkloadDeps): readonly Operation[] {
  return [
    logOperation(state, {
      id: 'getWorkloadLogs',
      path: '/api/v1beta/workloads/{name}/logs',
      summary: 'Get the logs of a workload',
      description: `The last ${LINES} lines of its output. A remote server has none: then those of its proxy.`,
      tool: { name: 'get_server_logs', readOnly: true, idempotent: true },
      file: (isRemote) => (isRemote ? WORKLOAD_FILES.proxyLog : WORKLOAD_FILES.log),
    }),
    logOperation(state, {
      id: 'getWorkloadProxyLogs',
      path: '/api/v1beta/workloads/{name}/proxy-logs',
      summary: 'Get the logs of the proxy of a workload',
      description: `The last ${LINES} lines.`,
      file: () => WORKLOAD_FILES.proxyLog,
    }),
  ];
}

function logOperation(
  state: string,
  {
    file,
    ...spec
  }: Pick<Operation, 'id' | 'path' | 'summary' | 'tool'> & {
    readonly description: string;
    file(isRemote: boolean): string;
  },
): Operation {
  return operation({
    ...spec,
    method: 'GET',
    tag: 'workloads',
    params: nameInPath,
    query: logQuery,
    answers: {
      200: {
        description: 'the lines',
        schema: z.string(),
        mediaType: 'text/plain',
        example: 'listening\n',
      },
    },
    problems: ['not_found', 'too_many_streams'],
    timeLimit: 'stream',
    async run({ path: { name }, query: { follow }, context }) {
      const record = await readWorkload(state, name);
      if (record === undefined) return noWorkload(state, name);
      const path = join(workloadDir(state, name), file(record.config?.remote_url !== undefined));
      if (follow) return { status: 200, stream: followed(state, name, path, context) };
      return { status: 200, body: (await tailLog(path, LINES)).text };
    },
  });
}

async function* followed(
  state: string,
  name: string,
  path: string,
  { signal }: OperationContext,
): AsyncGenerator<string> {
  const { text, end } = await tailLog(path, LINES);
  if (text !== '') yield text;
  yield* followLog(path, end, signal, async () => (await readWorkload(state, name)) === undefined);
}
