import type { LookupFunction } from 'node:net';
import { GatewayFault } from '@toolmgr/core';
import { type Challenge, challengesIn } from '@toolmgr/plugins/kit/oauth';
import { createRemoteHttp, type RemoteRequest } from '@toolmgr/plugins/kit/safe-http';

/** The remote server, and the headers that every request to it has. */
export interface Remote {
  readonly url: string;
  readonly transport: 'streamable-http' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request without a login showed. */
export interface ProbeResult {
  /** The server answered 401. */
  readonly isRefused: boolean;
  readonly challenges: readonly Challenge[];
}

/**
 * Sends one request that changes nothing and reads only the head of the answer. A server that cannot be reached refuses nothing:
 * the start of the workload reports it.
 */
export async function probeRemote(
  { url, transport, headers }: Remote,
  signal: AbortSignal,
  { accessToken, lookup }: { readonly accessToken?: string; readonly lookup?: LookupFunction } = {},
): Promise<ProbeResult> {
  const http = createRemoteHttp({
    allowPrivateAddresses: true, // the user chose the URL
    ...(lookup === undefined ? {} : { lookup }),
    allowHttp: true,
    followsWithinOrigin: true,
    timeoutMs: TIMEOUT_MS,
  });
  const token: Record<string, string> = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  try {
    const first: RemoteRequest = transport === 'sse' ? OPEN_STREAM : DISCOVER;
    const sent = { ...first.headers, ...headers, ...token };
    const answer = await http.send(url, { ...first, headers: sent, headOnly: true, signal });
    const challenge = answer.headers['www-authenticate'];
    const header = Array.isArray(challenge) ? challenge.join(', ') : challenge;
    return answer.status === 401 ? { isRefused: true, challenges: await challengesIn(header) } : NOT_REFUSED;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof GatewayFault) return NOT_REFUSED;
    throw cause;
  } finally {
    await http.close();
  }
}

const TIMEOUT_MS = 10_000;
const NOT_REFUSED: ProbeResult = { isRefused: false, challenges: [] };

/** Servers of both revisions check the token before they read the method. `initialize` would leave a session. */
const DISCOVER: RemoteRequest = {
  method: 'POST',
  headers: {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'server/discover',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'toolmgr', version: '0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
};

const OPEN_STREAM: RemoteRequest = { method: 'GET', headers: { accept: 'text/event-stream' } };
