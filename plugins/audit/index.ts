import { definePlugin } from '@toolmgr/core';
import { auditConfig } from './config.ts';
import { createJournal } from './journal.ts';
import { openSink } from './sink.ts';
import { createSnapshot } from './snapshot.ts';

const ADDRESS = 'audit';

/** One JSON line per call, written after its reply. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'writes one JSON line per call after its reply',
  contractKey: 'audit',
  config: auditConfig,
  apply(core, config) {
    const snapshot = createSnapshot(config);
    const journal = createJournal(core);
    core.hooks.callSettled.tap(ADDRESS, (record) => {
      const event = snapshot(record);
      if (event !== undefined) journal.add(event);
    });
    core.hooks.starting.tapPromise(ADDRESS, async () => journal.start(await openSink(config.logFile), config));
    core.hooks.stopping.tapPromise(ADDRESS, async () => journal.stop());
  },
});
