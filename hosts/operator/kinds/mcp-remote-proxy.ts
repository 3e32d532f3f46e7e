import { caBundleRef, httpUrl, kube } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { podTemplateSpec } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';
import { headerForward, PROXY_RULES, proxyFields, proxyStatus } from './workload.ts';

/** MCPRemoteProxy: a remote server, with a proxy in front. */
export const mcpRemoteProxy = defineKind({
  kind: 'MCPRemoteProxy',
  plural: 'mcpremoteproxies',
  singular: 'mcpremoteproxy',
  shortNames: ['rp', 'mcprp'],
  summary: 'MCPRemoteProxy runs a proxy in front of a remote MCP server.',
  spec: kube(
    z.strictObject({
      remoteUrl: httpUrl.describe('URL of the MCP endpoint'),
      allowPrivateEndpoint: z.boolean().default(false).describe('allow private addresses and names of the cluster'),
      transport: z.enum(['sse', 'streamable-http']).default('streamable-http').describe('how the server speaks'),
      headerForward: headerForward.optional().describe('headers to add to requests'),
      caBundleRef: caBundleRef.optional(),
      podTemplateSpec: podTemplateSpec('toolmgr').optional(),
      ...proxyFields,
    }),
    { rules: PROXY_RULES },
  ),
  status: z.strictObject({
    phase: z.enum(['Pending', 'Ready', 'Failed', 'Terminating']).default('Pending'),
    ...proxyStatus,
  }),
  columns: [
    COLUMNS.phase,
    { name: 'Remote', type: 'string', jsonPath: '.spec.remoteUrl' },
    COLUMNS.url,
    { name: 'Group', type: 'string', jsonPath: '.spec.groupRef.name' },
    COLUMNS.age,
    COLUMNS.message,
  ],
});

export type McpRemoteProxy = ObjectOf<typeof mcpRemoteProxy>;
