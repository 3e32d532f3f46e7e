import { randomUUID } from 'node:crypto';
import { definePlugin, type Refusal, STAGE } from '@toolmgr/core';
import { dataFound, pinChanged, signInChanged, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { createCapture } from './capture.ts';
import { auditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type EventContext, eventFromCall } from './event-from-call.ts';
import { eventFromData } from './event-from-data.ts';
import { eventFromPin } from './event-from-pin.ts';
import { eventFromRequest, eventFromStream } from './event-from-request.ts';
import { eventFromSignIn } from './event-from-sign-in.ts';
import { eventFromWorkflow } from './event-from-workflow.ts';
import { createTypeFilter } from './event-types.ts';
import { createJournal } from './journal.ts';
import { openFile, sinksOf } from './sinks/sinks.ts';

const ADDRESS = 'audit';

/** Writes one JSON line per request, call and workflow step, after the response. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'writes one JSON line per request, call and workflow step, after the response',
  contractKey: 'audit',
  config: auditConfig,
  apply(core, config) {
    const context: EventContext = {
      detectApplicationErrors: config.detectApplicationErrors,
      capture: createCapture(config),
      isWanted: createTypeFilter(config.eventTypes, config.excludeEventTypes),
    };
    const file = createJournal(core);
    const remote = sinksOf(config).map(({ name, open }) => ({ open, journal: createJournal(core, {}, name) }));
    const addEvent = (event: AuditEvent | undefined): void => {
      if (event === undefined) return;
      const known = remote.length === 0 ? event : { ...event, auditId: randomUUID() }; // each journal builds its own line
      file.add(known);
      for (const { journal } of remote) journal.add(known);
    };
    const late = { name: ADDRESS, stage: STAGE.late }; // after the plugin that sets the trace id
    core.hooks.callSettled.tap(late, (record) => addEvent(eventFromCall(record, context)));
    core.hooks.requestSettled.tap(late, (record) => addEvent(eventFromRequest(record, context)));
    core.hooks.streamOpened.tap(late, (record) => addEvent(eventFromStream(record, context)));
    core.hook(workflowAdvanced).tap(ADDRESS, (advanced) => addEvent(eventFromWorkflow(advanced, context)));
    core.hook(signInChanged).tap(ADDRESS, (changed) => addEvent(eventFromSignIn(changed, context)));
    core.hook(pinChanged).tap(ADDRESS, (changed) => addEvent(eventFromPin(changed, context)));
    core.hook(dataFound).tap(ADDRESS, (found) => addEvent(eventFromData(found, context)));
    if (config.onFailure === 'refuse') {
      core.hooks.authorize.tap({ name: ADDRESS, stage: STAGE.first }, () => (file.isFailing ? REFUSED : undefined));
    }
    core.hooks.starting.tapPromise(ADDRESS, async () => {
      file.start(await openFile(config, core), config);
      for (const { open, journal } of remote) journal.start(await open(core), config);
    });
    core.hooks.stopping.tapPromise(ADDRESS, async () => {
      await Promise.all([file.stop(), ...remote.map(({ journal }) => journal.stop())]);
    });
  },
});

const REFUSED: Refusal = {
  refused: true,
  status: 503,
  reason: 'calls are refused while the audit log cannot be written; try again later',
  retryAfterMs: 5_000,
};
