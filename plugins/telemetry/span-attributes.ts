import type { Call } from '@toolmgr/core';
import type { AttributeValues } from './attribute-table.ts';
import type { CallOutcome, RequestOutcome } from './call-outcome.ts';
import { maskedArguments } from './masked-arguments.ts';
import { methodName } from './method-name.ts';

/** The attributes of a request's span. Called only for recorded spans. */
export function requestAttributes({ record, durationMs, errorType }: RequestOutcome): AttributeValues {
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
    mcpTransport: record.servedBy === 'mcp' ? 'streamable-http' : undefined,
    requestId: message?.kind === 'request' && message.key !== undefined ? String(message.key) : undefined,
    rpcStatus: record.error === undefined ? undefined : String(record.error.code),
    session: session?.id,
    version: session?.protocolVersion ?? era,
    client: typeof record.clientInfo?.name === 'string' ? record.clientInfo.name : undefined,
    errorType,
    ...(record.call === undefined ? {} : targetAttributes(record.call, record.call.name)),
  };
}

/** The attributes of a call's span. */
export function callAttributes(
  call: Call,
  { errorType, rpcCode }: CallOutcome,
  transport: string | undefined,
): AttributeValues {
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
    ...targetAttributes(call, target.kind === 'template' ? call.name : target.original),
  };
}

const RPC: AttributeValues = { rpcSystem: 'jsonrpc', rpcService: 'mcp', rpcVersion: '2.0' };

function targetAttributes(call: Call, name: string): AttributeValues {
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
