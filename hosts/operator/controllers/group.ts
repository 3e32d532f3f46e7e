import { explainCause } from '@toolmgr/core';
import { keyOf, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { typeOfKind } from '../kinds/kind.ts';
import { type McpGroup, mcpGroup } from '../kinds/mcp-group.ts';
import type { Caches, Controller } from '../machinery/controller.ts';
import { MEMBER_KINDS, membersOf, type Referrer, referencesOf, typeNamed } from './references.ts';
import { currentObject, timedConditions, type WantedCondition, writeStatus } from './write-status.ts';

/** Names of one kind in the status; counts are complete. The status of a group stays far below the limit of an object. */
const MAX_LISTED = 1_000;

const CHECKED = 'MCPServersChecked';

/**
 * Writes the members of each group into its status. Members name their group; a member that moves changes both. A group does not
 * keep its members and is deleted at once: the controllers of members follow groups and mark themselves.
 */
export const groupController: Controller<McpGroup> = {
  name: 'MCPGroup',
  type: typeOfKind(mcpGroup),
  watches: MEMBER_KINDS.map((kind) => ({
    type: typeNamed(kind),
    keysOf: (member): readonly ObjectKey[] => referencesOf(kind, member).filter((each) => each.kind === 'MCPGroup'),
  })),
  async reconcile(key, context) {
    const { caches, now } = context;
    const group = currentObject(context, typeOfKind(mcpGroup), key);
    if (group === undefined) return;
    const { phase, condition, lists } = membership(key, caches);
    await writeStatus(context, typeOfKind(mcpGroup), group, {
      observedGeneration: group.metadata.generation,
      phase,
      ...lists,
      conditions: timedConditions(group, [condition], now()),
    });
  },
};

function membership(group: ObjectKey, caches: Caches) {
  try {
    const members = membersOf(group, caches);
    const counted = `${members.length} ${members.length === 1 ? 'member' : 'members'}`;
    const condition: WantedCondition = {
      type: CHECKED,
      status: 'True',
      reason: 'ListMCPServersCheckSucceeded',
      message: `the group has ${counted}`,
    };
    return { phase: 'Ready', condition, lists: listsOf(members) };
  } catch (cause) {
    const message = `the members cannot be listed: ${explainCause(cause)}`;
    const condition = { type: CHECKED, status: 'False', reason: 'ListMCPServersCheckFailed', message } as const;
    return { phase: 'Failed', condition, lists: {} };
  }
}

function listsOf(members: readonly Referrer[]) {
  const namesOf = (kind: string): string[] =>
    members.filter((each) => each.kind === kind).map(({ object }) => keyOf(object).name);
  const servers = namesOf('MCPServer');
  const remoteProxies = namesOf('MCPRemoteProxy');
  const entries = namesOf('MCPServerEntry');
  return {
    servers: servers.slice(0, MAX_LISTED),
    serverCount: servers.length,
    remoteProxies: remoteProxies.slice(0, MAX_LISTED),
    remoteProxyCount: remoteProxies.length,
    entries: entries.slice(0, MAX_LISTED),
    entryCount: entries.length,
  };
}
