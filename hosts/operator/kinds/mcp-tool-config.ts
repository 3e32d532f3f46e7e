import { kube, ofSection, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { configStatus } from './fields.ts';
import { COLUMNS, defineKind } from './kind.ts';

/** MCPToolConfig: which tools of a backend are listed, and how. */
export const mcpToolConfig = defineKind({
  kind: 'MCPToolConfig',
  plural: 'mcptoolconfigs',
  singular: 'mcptoolconfig',
  shortNames: ['tc', 'toolconfig'],
  summary: 'MCPToolConfig filters and renames the tools of a backend.',
  spec: z.strictObject({
    toolsFilter: kube(z.array(text(256)).max(1000), { listType: 'set' })
      .optional()
      .describe('names of the tools that are listed; default: all'),
    toolsOverride: ofSection('aggregation/tools/*/overrides').optional().describe('changes by name of the tool'),
  }),
  status: z.strictObject(configStatus),
  columns: [COLUMNS.valid, COLUMNS.age],
});
