import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { groupName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { callEvents, lastKnownCall } from '../../http/recent-calls/call-events.ts';
import type { CallReader } from '../../http/recent-calls/feed.ts';
import { recentCall } from './call-schema.ts';
import type { Endpoints } from './endpoints.ts';

const entry = z.strictObject({
  kind: z.enum(['tool', 'prompt', 'resource', 'template']),
  key: z.string().describe('the name that clients use'),
  backend: z.string(),
  original: z.string().describe("the backend's own name"),
  title: z.string().optional(),
  description: z.string().optional().describe('at most 300 characters'),
  hiddenBy: z
    .enum(['excludeAllTools', 'excludeAll', 'filter', 'shadowed'])
    .optional()
    .describe('why clients do not see it'),
  servedAt: z.enum(['front', 'direct']).optional(),
  shapedBy: z.array(z.string()).describe('what changed it, in order'),
});

const view = z.strictObject({
  name: z.string(),
  path: z.string().describe('path of the MCP endpoint'),
  backends: z.array(
    z.strictObject({
      name: z.string(),
      transport: z.string(),
      status: z.string(),
      cause: z.string().optional(),
      revision: z.string().optional().describe('MCP revision that the backend speaks'),
      outgoingAuth: z.string(),
    }),
  ),
  entries: z.array(entry),
  isCut: z.boolean().describe('there are more than 5,000 entries; the first ones are listed'),
  warnings: z.array(z.string()),
  plugins: z.record(z.string(), z.array(z.string())).describe('plugins per hook, in running order'),
});

const VIEW = {
  name: 'default',
  path: '/mcp/groups/default',
  backends: [{ name: 'fetch', transport: 'streamable-http', status: 'ready', outgoingAuth: 'unauthenticated' }],
  entries: [],
  isCut: false,
  warnings: [],
  plugins: {},
};
const CALL = {
  seq: 1,
  id: '6f1c1f0e-4a8e-4a0e-9d0c-3f6a0c1d2b3c',
  isInner: false,
  startedMs: 1_785_578_400_000,
  durationMs: 12.5,
  method: 'tools/call',
  name: 'fetch_fetch',
  original: 'fetch',
  backend: 'fetch',
  caller: 'anonymous',
  outcome: 'ok',
  resultBytes: 512,
};

/** Operations about the MCP endpoints of the manager and their calls. */
export function endpointOperations(endpoints: Endpoints, feed: CallReader): readonly Operation[] {
  return [
    operation({
      id: 'getEndpoint',
      method: 'GET',
      path: '/api/v1beta/endpoints/{kind}/{name}',
      tag: 'endpoints',
      summary: 'Get what clients of an endpoint see',
      description:
        'Names before and after aggregation and what changed them. The endpoint of a group is at /mcp/groups/{name}, that of one workload at /mcp/workloads/{name}.',
      params: z.strictObject({ kind: z.enum(['groups', 'workloads']), name: groupName }),
      answers: { 200: { description: 'the endpoint', schema: view, example: VIEW } },
      problems: ['not_found'],
      tool: { name: 'get_endpoint', readOnly: true },
      async run({ path: { kind, name } }) {
        const found = await endpoints.view(kind, name);
        return found === undefined
          ? problem('not_found', `there is no ${kind === 'groups' ? 'group' : 'workload'} ${name}`)
          : { status: 200, body: found };
      },
    }),
    operation({
      id: 'listCalls',
      method: 'GET',
      path: '/api/v1beta/calls',
      tag: 'endpoints',
      summary: 'List the last calls through workloads and the endpoints of the manager',
      answers: {
        200: {
          description: 'at most 500 calls, oldest first',
          schema: z.strictObject({ calls: z.array(recentCall) }),
          example: { calls: [CALL] },
        },
      },
      problems: [],
      run: async () => ({ status: 200, body: { calls: await feed.recent() } }),
    }),
    operation({
      id: 'followCalls',
      method: 'GET',
      path: '/api/v1beta/calls/stream',
      tag: 'endpoints',
      summary: 'Follow the calls through workloads and the endpoints of the manager',
      description:
        'Server-sent events `calls` with the body of the list; the id of an event is the seq of its last call. A reconnect with `Last-Event-ID` continues after it.',
      query: z.strictObject({
        after: z.coerce.number().int().min(0).default(0).describe('seq of the last known call'),
      }),
      answers: { 200: { description: 'events', mediaType: 'text/event-stream' } },
      problems: ['too_many_streams'],
      timeLimit: 'stream',
      async run({ query: { after }, context: { signal, lastEventId } }) {
        return { status: 200, stream: callEvents(feed, lastKnownCall(lastEventId, after), signal) };
      },
    }),
  ];
}
