import { openLogFile } from '@toolmgr/plugins/kit/files';
import type { CallFeed, RecentCall } from '../../http/recent-calls/feed.ts';

/** Maximum bytes of the file; its predecessor takes as many again. */
const MAX_BYTES = 256 * 1024;

/**
 * Writes the calls of a workload to a file, so that the manager shows them: one JSON object a line, without arguments and
 * results. Written in batches after the responses; a full disk loses lines.
 */
export function keepCallLog(feed: CallFeed, path: string): { close(): Promise<void> } {
  const file = openLogFile(path, MAX_BYTES);
  const over = new AbortController();
  let written = 0;
  const write = (calls: readonly RecentCall[]): void => {
    const rest = calls.filter(({ seq }) => seq > written);
    if (rest.length > 0) file.write(rest.map((call) => `${JSON.stringify(call)}\n`).join(''));
    written = rest.at(-1)?.seq ?? written;
  };
  const following = (async () => {
    for await (const calls of feed.follow(0, over.signal)) write(calls);
  })();
  return {
    async close() {
      over.abort();
      await following;
      write(feed.recent());
      file.close();
    },
  };
}
