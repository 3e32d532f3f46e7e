import { compositeToolDefinition } from './composite-tool-definition.ts';
import { embeddingServer } from './embedding-server.ts';
import type { KindDefinition } from './kind.ts';
import { mcpAuthzConfig } from './mcp-authz-config.ts';
import { mcpExternalAuthConfig } from './mcp-external-auth-config.ts';
import { mcpGroup } from './mcp-group.ts';
import { mcpOidcConfig } from './mcp-oidc-config.ts';
import { mcpRemoteProxy } from './mcp-remote-proxy.ts';
import { mcpServer } from './mcp-server.ts';
import { mcpServerEntry } from './mcp-server-entry.ts';
import { mcpTelemetryConfig } from './mcp-telemetry-config.ts';
import { mcpToolConfig } from './mcp-tool-config.ts';
import { virtualMcpServer } from './virtual-mcp-server.ts';

/** Every kind of the API group. */
export const KINDS: readonly KindDefinition[] = [
  virtualMcpServer,
  mcpGroup,
  mcpServer,
  mcpServerEntry,
  mcpRemoteProxy,
  mcpOidcConfig,
  mcpAuthzConfig,
  mcpExternalAuthConfig,
  mcpTelemetryConfig,
  mcpToolConfig,
  compositeToolDefinition,
  embeddingServer,
];
