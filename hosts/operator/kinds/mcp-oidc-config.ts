import { z } from 'zod';
import { configStatus } from './fields.ts';
import { COLUMNS, defineKind, OF_PLUGIN } from './kind.ts';

/** MCPOIDCConfig: an issuer that several servers share. Audience and scopes are part of the reference. */
export const mcpOidcConfig = defineKind({
  kind: 'MCPOIDCConfig',
  plural: 'mcpoidcconfigs',
  singular: 'mcpoidcconfig',
  shortNames: ['mcpoidc'],
  summary: 'MCPOIDCConfig is an issuer of tokens that servers accept.',
  spec: OF_PLUGIN,
  status: z.strictObject(configStatus),
  columns: [COLUMNS.type, COLUMNS.valid, COLUMNS.age],
});
