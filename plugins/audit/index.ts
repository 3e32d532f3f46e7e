import { definePlugin, STAGE } from '@toolmgr/core';
import { pinChanged, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { createCapture } from './capture.ts';
import { auditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type EventContext, eventFromCall } from './event-from-call.ts';
import { eventFromPin } from './event-from-pin.ts';
import { eventFromRequest, eventFromStream } from './event-from-request.ts';
import { eventFromWorkflow } from './event-from-workflow.ts';
import { createTypeFilter } from './event-types.ts';
import { createJournal } from './journal.ts';
import { openSink } from './sink.ts';

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
    const journal = createJournal(core);
    const addEvent = (event: AuditEvent | undefined): void => {
      if (event !== undefined) journal.add(event);
    };
    const late = { name: ADDRESS, stage: STAGE.late }; // after the plugin that sets the trace id
    core.hooks.callSettled.tap(late, (record) => addEvent(eventFromCall(record, context)));
    core.hooks.requestSettled.tap(late, (record) => addEvent(eventFromRequest(record, context)));
    core.hooks.streamOpened.tap(late, (record) => addEvent(eventFromStream(record, context)));
    core.hook(workflowAdvanced).tap(ADDRESS, (advanced) => addEvent(eventFromWorkflow(advanced, context)));
    core.hook(pinChanged).tap(ADDRESS, (changed) => addEvent(eventFromPin(changed, context)));
    core.hooks.starting.tapPromise(ADDRESS, async () => journal.start(await openSink(config.logFile, core), config));
    core.hooks.stopping.tapPromise(ADDRESS, async () => journal.stop());
  },
});
