import { z } from 'zod';
import { ALLOWED_ORIGINS, readOrigins } from '../../shared/allowed-origins.ts';
import { MEMORY_BUDGET, memorySizeFrom } from '../../shared/memory-budget.ts';
import { port, proxyMode, shownToolNames, toolNames } from './body-values.ts';
import { readDuration, readList, readPort, readPrefix } from './option-values.ts';
import type { RunOption } from './run-option.ts';

/** Options of the endpoint and of how it speaks to the server. */
export const PROXY_OPTIONS = {
  'Proxy and transport:': [
    {
      flags: '--transport <KIND>',
      description:
        'stdio, streamable-http or sse (default: stdio for programs and packages, streamable-http for images and URLs; for URLs sse when the path ends in /sse)',
      choices: ['stdio', 'streamable-http', 'sse'],
      stored: 'transport',
      as: 'own',
      body: { name: 'transport', says: 'transport of the server' },
    },
    {
      flags: '--host <ADDRESS>',
      description: 'address the endpoint listens on',
      fallback: '127.0.0.1',
      stored: 'host',
      as: 'own',
      body: { name: 'host', says: 'address of the endpoint; default 127.0.0.1' },
    },
    {
      flags: '--proxy-port <PORT>',
      stored: 'port',
      description: 'port of the endpoint (default: a free one, kept over restarts)',
      read: readPort(0),
      body: {
        name: 'proxy_port',
        says: 'port of the endpoint; 0: any free one, or on an edit the present one',
        accepts: port,
        shows: z.int().describe('0 before the first start'),
        own: true,
      },
    },
    {
      flags: '--target-port <PORT>',
      stored: 'target_port',
      description:
        'port on which a program with an HTTP transport listens (default: a free one, passed in the variable PORT)',
      read: readPort(1),
      body: { name: 'target_port', says: 'port of the server in its container', accepts: port },
    },
    {
      flags: '--target-host <ADDRESS>',
      stored: 'target_host',
      description: 'address on which a program with an HTTP transport listens (default: 127.0.0.1)',
    },
    {
      flags: '--proxy-mode <MODE>',
      stored: 'proxy_mode',
      description: 'what clients of a stdio server are served: streamable-http, or sse (deprecated) too',
      choices: ['streamable-http', 'sse'],
      fallback: 'streamable-http',
      body: { name: 'proxy_mode', says: 'what clients of a stdio server are served', accepts: proxyMode },
    },
    {
      flags: '--endpoint-prefix <PATH>',
      stored: 'endpoint_prefix',
      description: 'path before the URL that SSE clients send to, behind a reverse proxy that removes it',
      read: readPrefix,
    },
    {
      flags: '--trust-proxy-headers',
      stored: 'trust_proxy_headers',
      description: 'the URL that SSE clients send to follows X-Forwarded-Proto, -Host, -Port and -Prefix',
      body: { name: 'trust_proxy_headers', says: '`X-Forwarded-*` of requests count' },
    },
    {
      flags: ALLOWED_ORIGINS.flags,
      description: ALLOWED_ORIGINS.description,
      stored: 'allowed_origins',
      read: readOrigins,
    },
    {
      flags: '--session-ttl <DURATION>',
      stored: 'session_ttl',
      description: 'a session without requests ends after this time',
      fallback: '2h',
      read: readDuration,
    },
    { flags: '--stateless', stored: 'stateless', description: 'the server keeps no sessions: only POST is answered' },
    {
      flags: '--sessions <MODE>',
      stored: 'sessions',
      description:
        'of a stdio server: perClient (default), or shared: one for all clients; on Docker it outlives the proxy',
      choices: ['perClient', 'shared'],
    },
    {
      flags: '--memory-budget <SIZE>',
      stored: 'memory_budget_bytes',
      description: MEMORY_BUDGET.description,
      read: memorySizeFrom,
    },
    {
      flags: '--strict-protocol-validation',
      stored: 'strict_protocol_validation',
      description:
        'answer 400 to requests whose MCP-Protocol-Version is an unknown revision (default: any is accepted)',
    },
    {
      flags: '--tools <LIST>',
      stored: 'tools_filter',
      description: 'only these tools, comma-separated (default: all)',
      read: readList,
      body: { name: 'tools', says: 'tools that are shown; empty: all' },
    },
    {
      flags: '--tools-override <FILE>',
      description: 'JSON file with other names and descriptions of tools',
      stored: 'tools_override',
      as: 'own',
      body: {
        name: 'tools_override',
        says: 'other names and descriptions of tools, by their real names',
        accepts: toolNames,
        shows: shownToolNames,
        own: true,
      },
    },
  ],
} as const satisfies Readonly<Record<string, readonly RunOption[]>>;
