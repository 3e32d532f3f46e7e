import { z } from 'zod';
import { configStatus } from './fields.ts';
import { COLUMNS, defineKind, OF_PLUGIN } from './kind.ts';

/** MCPTelemetryConfig: where traces and metrics go. */
export const mcpTelemetryConfig = defineKind({
  kind: 'MCPTelemetryConfig',
  plural: 'mcptelemetryconfigs',
  singular: 'mcptelemetryconfig',
  shortNames: ['mcpotel'],
  summary: 'MCPTelemetryConfig is where servers send traces and metrics.',
  spec: OF_PLUGIN,
  status: z.strictObject(configStatus),
  columns: [{ name: 'Endpoint', type: 'string', jsonPath: '.spec.openTelemetry.endpoint' }, COLUMNS.valid, COLUMNS.age],
});
