import { int32, kube } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { commonStatus } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';

const names = kube(z.array(z.string()), { listType: 'set' });

/** MCPGroup: members name it in `spec.groupRef`. */
export const mcpGroup = defineKind({
  kind: 'MCPGroup',
  plural: 'mcpgroups',
  singular: 'mcpgroup',
  shortNames: ['mcpg', 'mcpgroup'],
  summary: 'MCPGroup is a set of MCP servers; its members name it in spec.groupRef.',
  spec: z.strictObject({ description: z.string().max(4096).optional().describe('what the group is for') }),
  status: z.strictObject({
    phase: z.enum(['Pending', 'Ready', 'Failed']).default('Pending').describe('Ready when all members were listed'),
    servers: names.optional().describe('names of the MCPServers, sorted'),
    serverCount: int32().optional(),
    remoteProxies: names.optional().describe('names of the MCPRemoteProxies, sorted'),
    remoteProxyCount: int32().optional(),
    entries: names.optional().describe('names of the MCPServerEntries, sorted'),
    entryCount: int32().optional(),
    ...commonStatus,
  }),
  columns: [
    COLUMNS.phase,
    { name: 'Servers', type: 'integer', jsonPath: '.status.serverCount' },
    { name: 'Proxies', type: 'integer', jsonPath: '.status.remoteProxyCount' },
    { name: 'Entries', type: 'integer', jsonPath: '.status.entryCount' },
    COLUMNS.age,
  ],
});

export type McpGroup = ObjectOf<typeof mcpGroup>;
