import type { LoadRequest } from './load.ts';

const COMMON = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Variants of a call. */
export type CallKind = 'plain' | 'progress' | 'fresh';

/** The requests of the bench in one era. */
export interface EraRequests {
  /** `progress` requests notifications; `fresh` gives every call different arguments. */
  call(tool: string, kind?: CallKind): LoadRequest;
  list(): LoadRequest;
}

/** MCP 2026-07-28: stateless. `more` are additional headers. */
export function modernRequests(more: Readonly<Record<string, string>> = {}): EraRequests {
  const envelope =
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},' +
    '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}';
  const headers = (method: string, name?: string) => ({
    ...COMMON,
    ...more,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  });
  return {
    call: (tool, kind = 'plain') => ({
      headers: headers('tools/call', tool),
      body: callBody(tool, kind, `,"_meta":{${kind === 'progress' ? '"progressToken":"p1",' : ''}${envelope}}`),
    }),
    list: () => ({
      headers: headers('tools/list'),
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{${envelope}}}}`,
    }),
  };
}

/** MCP 2025-11-25: a session is opened once, then every request carries its id. */
export async function legacyRequests(url: string): Promise<EraRequests> {
  const clientInfo = { name: 'bench', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await fetch(url, {
    method: 'POST',
    headers: COMMON,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  await opened.text();
  const session = opened.headers.get('mcp-session-id');
  const headers = {
    ...COMMON,
    'mcp-protocol-version': '2025-11-25',
    ...(session === null ? {} : { 'mcp-session-id': session }),
  };
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await (await fetch(url, { method: 'POST', headers, body: initialized })).text();
  return {
    call: (tool, kind = 'plain') => ({
      headers,
      body: callBody(tool, kind, kind === 'progress' ? ',"_meta":{"progressToken":"p1"}' : ''),
    }),
    list: () => ({ headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' }),
  };
}

function callBody(tool: string, kind: CallKind, meta: string): string {
  const text = `The quick brown fox jumps over the lazy dog.${kind === 'fresh' ? NUMBER : ''}`;
  const given = `{"text":"${text}","count":3,"deep":{"a":[1,2,3]}}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${given}${meta}}}`;
}

/** Placeholder that the load tools replace by the number of the request, like its id. */
const NUMBER = '#N#';
