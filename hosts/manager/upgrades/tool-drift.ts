import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@toolmgr/core';
import type { WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { connect } from '../../shared/client/mcp-client.ts';

/** Names of tools that an upgrade added, removed, or gave another definition. */
export interface ToolDrift {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Tools by their name, as the endpoint of a workload lists them. */
export type ToolsByName = ReadonlyMap<string, JsonObject>;

const TIMEOUT_MS = 10_000;

/** The tools that the clients of a running workload see; `undefined` when they are not known. */
export async function toolsOf(record: WorkloadRecord | undefined): Promise<ToolsByName | undefined> {
  const url = record?.alive === true && record.config?.proxy_mode !== 'sse' ? record.status.url : undefined;
  if (url === undefined) return undefined;
  try {
    const client = await connect(url, { timeoutMs: TIMEOUT_MS });
    try {
      return new Map((await client.listTools()).map((tool) => [String(tool.name), tool]));
    } finally {
      await client.close();
    }
  } catch {
    return undefined; // e.g. it needs a login; the upgrade does not depend on it
  }
}

/** What differs; `undefined` when nothing does, or when one of the lists is not known. Pure. */
export function toolDrift(before: ToolsByName | undefined, after: ToolsByName | undefined): ToolDrift | undefined {
  if (before === undefined || after === undefined) return undefined;
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].flatMap(([name, tool]) =>
    before.has(name) && !isDeepStrictEqual(before.get(name), tool) ? [name] : [],
  );
  return added.length + removed.length + changed.length === 0 ? undefined : { added, removed, changed };
}
