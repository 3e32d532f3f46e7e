import { text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { anyObject, configStatus } from './fields.ts';
import { COLUMNS, defineKind } from './kind.ts';

/** MCPAuthzConfig: policies that several servers share. `config` depends on `type`. */
export const mcpAuthzConfig = defineKind({
  kind: 'MCPAuthzConfig',
  plural: 'mcpauthzconfigs',
  singular: 'mcpauthzconfig',
  shortNames: ['authzcfg'],
  summary: 'MCPAuthzConfig is a set of authorization policies.',
  spec: z.strictObject({
    type: text(63).describe('kind of the policies; VirtualMCPServer supports cedarv1'),
    config: anyObject().describe(
      'for cedarv1 as in an authorization file: policies, entities_json, primary_upstream_provider, group_claim_name, group_entity_type, role_claim_name',
    ),
  }),
  status: z.strictObject(configStatus),
  columns: [COLUMNS.type, COLUMNS.valid, COLUMNS.age],
});
