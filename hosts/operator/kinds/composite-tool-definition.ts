import { kube, ofSection } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { commonStatus } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf } from './kind.ts';

/** What is read here of a composite tool, whose schema is that of `compositeTools[]` in a vmcp file. */
export interface CompositeTool {
  readonly name: string;
  readonly description?: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
}

/** VirtualMCPCompositeToolDefinition: a composite tool that several servers share. Source: vmcp spec §2 `compositeTools[]`. */
export const compositeToolDefinition = defineKind({
  kind: 'VirtualMCPCompositeToolDefinition',
  plural: 'virtualmcpcompositetooldefinitions',
  singular: 'virtualmcpcompositetooldefinition',
  shortNames: ['vmcpctd', 'compositetool'],
  summary: 'VirtualMCPCompositeToolDefinition is a workflow that VirtualMCPServers offer as a tool.',
  spec: ofSection<CompositeTool>('compositeTools/*'),
  status: z.strictObject({
    validationStatus: z.enum(['Valid', 'Invalid', 'Unknown']).optional().describe('result of the check'),
    validationErrors: z.array(z.string()).optional().describe('what is wrong, one sentence each'),
    referencingVirtualServers: kube(z.array(z.string()), { listType: 'set' })
      .optional()
      .describe('names of the VirtualMCPServers that offer it, sorted'),
    ...commonStatus,
  }),
  columns: [
    { name: 'Workflow', type: 'string', jsonPath: '.spec.name' },
    { name: 'Status', type: 'string', jsonPath: '.status.validationStatus' },
    COLUMNS.ready,
    COLUMNS.age,
  ],
});

export type CompositeToolDefinition = ObjectOf<typeof compositeToolDefinition>;
