import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@toolmgr/core';
import type { McpClient } from '../../shared/client/mcp-client.ts';
import { stderr } from '../../shared/terminal.ts';

const POLL_MS = 500;

/**
 * Lists tools until the list has the named one, no backend is starting any more, or `waitMs` are over. Without a name it waits for
 * all backends.
 * @throws what `listTools` throws
 */
export async function listUntilThere(
  client: Pick<McpClient, 'listTools' | 'starting'>,
  name: string | undefined,
  waitMs: number,
): Promise<readonly JsonObject[]> {
  const deadlineMs = performance.now() + waitMs;
  let told = false;
  for (;;) {
    const listed = await client.listTools().catch((cause: unknown) => ({ cause }));
    const starting = client.starting();
    const isOver = starting.length === 0 || performance.now() >= deadlineMs;
    if ('cause' in listed) {
      if (isOver) throw listed.cause;
    } else if (isOver || listed.some((tool) => tool.name === name)) {
      return listed;
    }
    if (!told) stderr.line(stderr.dim(`waiting for ${starting.join(', ')}`));
    told = true;
    await sleep(Math.min(POLL_MS, Math.max(1, deadlineMs - performance.now())));
  }
}
