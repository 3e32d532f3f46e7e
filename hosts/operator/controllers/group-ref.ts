import type { KubeObject, ObjectKey, Resource } from '@toolmgr/plugins/kit/kubernetes';
import type { Caches } from '../machinery/controller.ts';
import { typeNamed } from './references.ts';
import type { WantedCondition } from './write-status.ts';

/**
 * The condition `GroupRefValidated` of a member: its MCPGroup exists, is not being deleted, and is ready. A group that is deleted
 * does not wait for its members: their controllers watch groups and mark themselves.
 */
export function groupRefCondition(group: ObjectKey, caches: Caches): WantedCondition {
  const type = 'GroupRefValidated';
  const found = caches.of(typeNamed('MCPGroup')).get(group) as (KubeObject & Resource) | undefined;
  const no = (reason: string, message: string): WantedCondition => ({ type, status: 'False', reason, message });
  if (found === undefined) return no('GroupRefNotFound', `the namespace has no MCPGroup "${group.name}"`);
  if (found.metadata.deletionTimestamp !== undefined) {
    return no('GroupRefNotFound', `MCPGroup "${group.name}" is being deleted`);
  }
  const { phase = 'Pending' } = (found.status ?? {}) as { readonly phase?: string };
  if (phase !== 'Ready') return no('GroupRefNotReady', `MCPGroup "${group.name}" is ${phase}, not Ready`);
  return { type, status: 'True', reason: 'GroupRefIsValid', message: `MCPGroup "${group.name}" is ready` };
}
