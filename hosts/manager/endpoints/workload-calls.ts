import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readWorkloads, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { type CallFeed, type CallReader, createCallFeed, type RecentCall } from '../../http/recent-calls/feed.ts';
import { recentCall } from './call-schema.ts';
import { CLIENT_PREFIX } from './plan.ts';

/** Milliseconds between looks at the files, while a reader follows. */
const POLL_MS = 500;
/** Bytes of a file that are read at once; older calls are skipped. */
const MAX_READ = 128 * 1024;

/** What the manager needs of a line; the file is written by a proxy of the same user, perhaps of another version. */
const line = z.object(recentCall.shape);

/**
 * The calls of all workloads and of the manager's endpoints, in one feed.
 *
 * The proxies write calls to files (`hosts/workloads/proxy/call-log.ts`). The files are read only while the feed is read. Calls that the
 * manager's own gateways made are left out: `endpoints` has them.
 */
export function workloadCalls(stateDir: string, endpoints: CallFeed): CallReader {
  const all = createCallFeed();
  const seen = new Map<string, { inode: number; bytes: number }>();
  let ofEndpoints = 0;
  let reading: Promise<void> | undefined;
  const collect = async (): Promise<void> => {
    const names = (await readWorkloads(stateDir)).map(({ name }) => name);
    const found = await Promise.all(
      names.map((name) => newCalls(join(workloadDir(stateDir, name), WORKLOAD_FILES.calls), name, seen)),
    );
    const own = endpoints.recent().filter(({ seq }) => seq > ofEndpoints);
    ofEndpoints = own.at(-1)?.seq ?? ofEndpoints;
    const direct = found.flat().filter(({ client = '' }) => !client.startsWith(CLIENT_PREFIX));
    const ended = (call: Omit<RecentCall, 'seq'>): number => call.startedMs + call.durationMs;
    for (const call of [...direct, ...own].sort((a, b) => ended(a) - ended(b))) all.add(call);
  };
  /** Readers at the same time share one look. */
  const look = (): Promise<void> => {
    reading ??= collect().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    async recent() {
      await look();
      return all.recent();
    },
    async *follow(seq, signal) {
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      await look();
      const looking = (async () => {
        while (!until.aborted) {
          await delay(POLL_MS, undefined, { signal: until }).catch(() => {});
          if (!until.aborted) await look().catch(() => {}); // the next look may succeed
        }
      })();
      try {
        yield* all.follow(seq, until);
      } finally {
        over.abort();
        await looking;
      }
    },
  };
}

/** The lines that were added since the last look. */
async function newCalls(
  path: string,
  key: string,
  seen: Map<string, { inode: number; bytes: number }>,
): Promise<readonly Omit<RecentCall, 'seq'>[]> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) return [];
  const before = seen.get(key);
  const isSame = before !== undefined && before.inode === facts.ino && before.bytes <= facts.size;
  const from = Math.max(isSame ? before.bytes : 0, facts.size - MAX_READ);
  if (from === facts.size) return [];
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(facts.size - from), 0, facts.size - from, from);
    const end = buffer.lastIndexOf(0x0a, bytesRead - 1) + 1; // an unfinished line is read at the next look
    seen.set(key, { inode: facts.ino, bytes: from + end });
    return buffer.toString('utf8', 0, end).split('\n').flatMap(callFrom);
  } finally {
    await file.close();
  }
}

/** The first line may be cut. */
function callFrom(text: string): readonly Omit<RecentCall, 'seq'>[] {
  try {
    const read = line.safeParse(JSON.parse(text));
    if (!read.success) return [];
    const { seq: _, ...call } = read.data;
    return [call as Omit<RecentCall, 'seq'>];
  } catch {
    return [];
  }
}
