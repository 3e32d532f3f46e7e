import { int32, kube, onlyWithType, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { env, podTemplateSpec, port } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';
import { PROXY_RULES, proxyFields, proxyStatus } from './workload.ts';

const volume = z.strictObject({
  name: text(63).describe('name of the volume'),
  hostPath: text(4096).describe('path on the node'),
  mountPath: text(4096).describe('path in the container'),
  readOnly: z.boolean().default(false).describe('mount without write access'),
});

const permissionProfile = kube(
  z.strictObject({
    type: z.enum(['builtin', 'configmap']).default('builtin').describe('where the profile is'),
    name: text(253).describe('builtin: none or network; configmap: name of the ConfigMap'),
    key: text(253).optional().describe('key in the ConfigMap'),
  }),
  {
    rules: [
      {
        rule: "self.type != 'builtin' || self.name in ['none', 'network']",
        message: 'name must be none or network when type is builtin',
        fieldPath: '.name',
      },
      onlyWithType('key', 'configmap'),
    ],
  },
);

/** MCPServer: a server in a container, with a proxy in front. */
export const mcpServer = defineKind({
  kind: 'MCPServer',
  plural: 'mcpservers',
  singular: 'mcpserver',
  shortNames: ['mcpserver'],
  summary: 'MCPServer runs an MCP server from an image.',
  spec: kube(
    z.strictObject({
      image: text(1024).describe('image of the server'),
      transport: z
        .enum(['stdio', 'sse', 'streamable-http'])
        .default('stdio')
        .describe('how the server in the container speaks'),
      proxyMode: z
        .enum(['sse', 'streamable-http'])
        .default('streamable-http')
        .describe('how the proxy speaks, with transport stdio'),
      mcpPort: port.optional().describe('port of the server in the container; default: that of the proxy'),
      args: z.array(z.string().max(4096)).max(500).optional().describe('arguments of the server'),
      env: env.optional(),
      secrets: z
        .array(
          secretKeyRef.extend({
            targetEnvName: text(253).optional().describe('environment variable; default: the key'),
          }),
        )
        .max(200)
        .optional()
        .describe('secrets as environment variables'),
      volumes: kube(z.array(volume).max(100), { listType: 'map', listMapKeys: ['name'] })
        .optional()
        .describe('paths of the node in the container'),
      permissionProfile: permissionProfile.optional().describe('network access of the server'),
      podTemplateSpec: podTemplateSpec('mcp').optional(),
      backendReplicas: int32().optional().describe('number of pods of the server'),
      ...proxyFields,
    }),
    { rules: PROXY_RULES },
  ),
  status: z.strictObject({
    phase: z.enum(['Pending', 'Ready', 'Failed', 'Terminating', 'Stopped']).default('Pending'),
    ...proxyStatus,
  }),
  columns: [
    COLUMNS.phase,
    COLUMNS.url,
    { name: 'Group', type: 'string', jsonPath: '.spec.groupRef.name' },
    COLUMNS.age,
    COLUMNS.message,
  ],
});

export type McpServer = ObjectOf<typeof mcpServer>;
