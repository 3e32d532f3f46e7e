import { caBundleRef, httpUrl } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { commonStatus, refTo } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';
import { headerForward } from './workload.ts';

/** MCPServerEntry: a remote server as a member of a group, without pods of its own. */
export const mcpServerEntry = defineKind({
  kind: 'MCPServerEntry',
  plural: 'mcpserverentries',
  singular: 'mcpserverentry',
  shortNames: ['mcpentry'],
  summary: 'MCPServerEntry is a remote MCP server that VirtualMCPServers call directly.',
  spec: z.strictObject({
    remoteUrl: httpUrl.describe('URL of the MCP endpoint'),
    transport: z.enum(['sse', 'streamable-http']).describe('how the server speaks'),
    groupRef: refTo('MCPGroup').describe('group that this is a member of'),
    allowPrivateEndpoint: z.boolean().default(false).describe('allow private addresses and names of the cluster'),
    externalAuthConfigRef: refTo('MCPExternalAuthConfig').optional().describe('how the server is authenticated to'),
    headerForward: headerForward.optional().describe('headers to add to requests'),
    caBundleRef: caBundleRef.optional(),
  }),
  status: z.strictObject({
    phase: z.enum(['Valid', 'Pending', 'Failed']).default('Pending'),
    ...commonStatus,
  }),
  columns: [
    COLUMNS.phase,
    { name: 'URL', type: 'string', jsonPath: '.spec.remoteUrl' },
    { name: 'Transport', type: 'string', jsonPath: '.spec.transport' },
    { name: 'Group', type: 'string', jsonPath: '.spec.groupRef.name' },
    COLUMNS.age,
  ],
});

export type McpServerEntry = ObjectOf<typeof mcpServerEntry>;
