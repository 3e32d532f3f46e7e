import type { Resource } from '@toolmgr/plugins/kubernetes';
import type { Defaults, Related } from './related.ts';
import type { Resolution } from './resolution.ts';

/**
 * Resolves a VirtualMCPServer with everything that it refers to. Pure but for the lookups.
 *
 * Order of checks and their reasons: the first failed check decides the outcome, the others are reported too.
 * @throws what a lookup throws: nothing is known then, so reconcile again
 */
export async function resolveServer(server: Resource, _related: Related, _defaults: Defaults): Promise<Resolution> {
  throw new Error(`resolving ${server.metadata.name} is not written yet`);
}
