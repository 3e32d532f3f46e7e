import type { IncomingMessage, ServerResponse } from 'node:http';
import { explainCause, type Gateway, type PlanInput } from '@toolmgr/core';
import { type Operation, problem, problemBody } from '@toolmgr/plugins/kit/operations';
import { type EndpointAddress, ORIGIN_OPTION } from '../endpoints/endpoint-address.ts';
import type { GatewayMemory } from '../gateway-memory.ts';
import type { Access } from '../http/access.ts';
import { PROBLEM_TYPE } from '../http/problem-reply.ts';
import type { ToolSettings } from './run-tool.ts';
import { MANAGER_CALLERS, MANAGER_TOOLS, managerCallersPlugin, managerToolsPlugin } from './tools-plugin.ts';

/** Path of the MCP endpoint that offers the operations as tools. */
export const MCP_PATH = '/mcp/manager';

/** The MCP endpoint of the manager. */
export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse): void;
  stop(): Promise<void>;
}

/** What {@link createMcpEndpoint} needs. */
export interface McpOptions extends ToolSettings {
  readonly operations: readonly Operation[];
  readonly access: Access;
  readonly address: EndpointAddress;
  readonly memory: GatewayMemory;
}

/**
 * Creates the endpoint: a gateway without backends, whose tools run in this process. It is made at the first request, so that
 * an idle manager uses less memory. The host has checked Host and caller of every request; the gateway checks Origin.
 */
export function createMcpEndpoint(options: McpOptions): McpEndpoint {
  let opened: Promise<Gateway> | undefined;
  const { log } = options.host;
  return {
    handle(request, response) {
      opened ??= openGateway(options);
      opened.then(
        (gateway) => gateway.handle(request, response),
        (cause) => {
          opened = undefined;
          log.error('the MCP endpoint of the manager did not start', { cause: explainCause(cause) });
          sendFailure(response);
        },
      );
    },
    async stop() {
      await opened?.then((gateway) => gateway.stop()).catch(() => {});
    },
  };
}

async function openGateway(options: McpOptions): Promise<Gateway> {
  const [{ createGateway }, { catalogue }] = await Promise.all([import('@toolmgr/core'), import('@toolmgr/plugins')]);
  const { operations, access, host, memory } = options;
  return createGateway(planOf(options), {
    catalogue,
    log: host.log,
    memory: await memory(),
    originOption: ORIGIN_OPTION,
    plugins: [managerToolsPlugin(operations, options), managerCallersPlugin(access)],
  });
}

function planOf({ address }: McpOptions): PlanInput {
  return {
    name: 'toolmgr-manager',
    plugins: [{ use: MANAGER_CALLERS }, { use: 'outgoing-auth/unauthenticated' }, { use: MANAGER_TOOLS }],
    endpoint: { path: MCP_PATH, ...address },
    timeouts: { defaultMs: CALL_MS },
  };
}

const CALL_MS = 1_260_000; // longer than the operations' limit and the time to confirm

function sendFailure(response: ServerResponse): void {
  const body = problemBody(
    problem('internal_error', 'the MCP endpoint did not start; the log of the manager has the reason'),
  );
  response.writeHead(body.status, { 'content-type': PROBLEM_TYPE }).end(JSON.stringify(body));
}
