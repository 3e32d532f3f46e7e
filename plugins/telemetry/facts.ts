import type { Call } from '@toolmgr/core';
import type { Facts } from './attribute-table.ts';
import type { CallEnd, RequestEnd } from './ends.ts';
import { maskedArguments } from './masked-arguments.ts';
import { methodName } from './method-name.ts';

/** What the span of a request says. Only read for spans that are kept. */
export function requestFacts({ record, durationMs, errorType }: RequestEnd): Facts {
  const { inbound, message, session, era } = record;
  const { headers, path } = inbound;
  const host = headers.host;
  return {
    httpMethod: inbound.method,
    url: host === undefined ? undefined : `http://${host}${path}`,
    scheme: 'http',
    path,
    host: host?.replace(/:\d+$/, ''),
    userAgent: headers['user-agent'],
    requestBytes: wholeNumber(headers['content-length']),
    responseBytes: record.responseBytes,
    status: record.status === 0 ? undefined : record.status,
    durationMs,
    clientAddress: record.remoteAddress,
    protocolName: 'http',
    transport: 'tcp',
    method: message?.method === undefined ? undefined : methodName(message.method),
    ...(message === undefined ? {} : RPC),
    mcpTransport: record.face === 'mcp' ? 'streamable-http' : undefined,
    requestId: message?.kind === 'request' && message.key !== undefined ? String(message.key) : undefined,
    rpcStatus: record.error === undefined ? undefined : String(record.error.code),
    session: session?.id,
    version: session?.protocolVersion ?? era,
    client: typeof record.clientInfo?.name === 'string' ? record.clientInfo.name : undefined,
    errorType,
    ...(record.call === undefined ? {} : targetFacts(record.call, record.call.name)),
  };
}

/** What the span of a call to its target says. */
export function callFacts(call: Call, { errorType, rpcCode }: CallEnd, transport: string | undefined): Facts {
  const { target } = call;
  const isVirtual = target.run !== undefined;
  return {
    method: call.method,
    ...RPC,
    mcpTransport: isVirtual ? undefined : transport,
    transport: transport === undefined || isVirtual ? undefined : transport === 'stdio' ? 'pipe' : 'tcp',
    backend: target.backend,
    backendVersion: target.era,
    rpcStatus: rpcCode === undefined ? undefined : String(rpcCode),
    errorType,
    ...targetFacts(call, target.kind === 'template' ? call.name : target.original),
  };
}

const RPC: Facts = { rpcSystem: 'jsonrpc', rpcService: 'mcp', rpcVersion: '2.0' };

function targetFacts(call: Call, name: string): Facts {
  switch (call.target.kind) {
    case 'tool':
      return { tool: name, operation: 'execute_tool', arguments: maskedArguments(call.arguments) };
    case 'prompt':
      return { prompt: name };
    default:
      return { resource: name };
  }
}

function wholeNumber(text: string | undefined): number | undefined {
  const number = Number(text);
  return text === undefined || !Number.isSafeInteger(number) ? undefined : number;
}
