import { mcpServerPart } from './controllers/mcp-server/part.ts';
import { remoteProxyPart } from './controllers/remote-proxy/part.ts';
import { sharedKindsPart } from './controllers/shared-kinds-part.ts';
import { virtualMcpServers } from './controllers/virtual-mcp-server/part.ts';
import type { Controller, InformerSpec } from './machinery/controller.ts';
import type { OperatorSettings } from './settings.ts';

/** A part of the operator: controllers, and the informers that they need beside those of the own kinds. */
export interface OperatorPart {
  readonly controllers: readonly Controller[];
  /** Specs of one type are merged: their indexes are united, and `metadataOnly` must agree. */
  readonly informers?: readonly InformerSpec[];
}

/**
 * All parts. Informers of the own kinds, with the index `references`, are always there.
 *
 * Shape: a function is called once at the start.
 */
export const PARTS: readonly ((settings: OperatorSettings) => OperatorPart)[] = [
  sharedKindsPart,
  virtualMcpServers,
  mcpServerPart,
  remoteProxyPart,
];
