import {
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type Resource,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { EventText, ReconcileContext } from '../../machinery/controller.ts';
import { MANAGER } from '../../objects/owned-objects.ts';
import { failureEvent } from '../failure-event.ts';
import { isOutdated, type ServerStatus } from './server-status.ts';

/** Writes the status of VirtualMCPServers when it changed. */
export interface StatusWriter {
  /** The object with the status that was written last, as long as the cache has an older one. */
  latest(cached: VirtualMcpServer): VirtualMcpServer;
  /** A failure that is not among the events `told` is reported. @returns whether it was written @throws ApiError */
  write(
    server: VirtualMcpServer,
    status: ServerStatus,
    context: ReconcileContext,
    told: readonly EventText[],
  ): Promise<boolean>;
  forget(key: ObjectKey): void;
}

interface Written {
  readonly uid: string | undefined;
  readonly version: bigint;
  readonly status: ServerStatus | undefined;
  /** Types of conditions that others wrote. */
  readonly foreign: ReadonlySet<string>;
}

/** Remembers what was written; one per controller. */
export function createStatusWriter(type: ResourceType<VirtualMcpServer>): StatusWriter {
  const written = new Map<string, Written>();
  return {
    latest(cached) {
      const last = written.get(keyText(keyOf(cached)));
      if (last === undefined || last.uid !== cached.metadata.uid || last.version <= versionOf(cached)) return cached;
      return { ...cached, ...(last.status === undefined ? {} : { status: last.status }) };
    },
    async write(server, status, { api, events }, told) {
      const key = keyOf(server);
      const { uid } = server.metadata;
      const foreign = written.get(keyText(key))?.foreign ?? new Set<string>();
      const conditions = server.status?.conditions?.filter((condition) => !foreign.has(condition.type));
      const current = server.status && { ...server.status, ...(conditions === undefined ? {} : { conditions }) };
      if (!isOutdated(current, status)) return false;
      const failure = failureEvent(server, status, told);
      if (failure !== undefined) events.emit(server, failure);
      // with the uid, an object that was created again under the same name is not written
      const metadata = { ...key, ...(uid === undefined ? {} : { uid }) };
      const body = { apiVersion: type.apiVersion, kind: type.kind, metadata, status } as Resource as VirtualMcpServer;
      const answer = await api.apply(type, body, { manager: MANAGER, force: true, subresource: 'status' });
      const own = new Set(status.conditions?.map((condition) => condition.type));
      const others = (answer.status?.conditions ?? [])
        .map((condition) => condition.type)
        .filter((each) => !own.has(each));
      written.set(keyText(key), { uid, version: versionOf(answer), status: answer.status, foreign: new Set(others) });
      return true;
    },
    forget: (key) => void written.delete(keyText(key)),
  };
}

function versionOf({ metadata: { resourceVersion = '0' } }: KubeObject): bigint {
  return /^\d{1,20}$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}
