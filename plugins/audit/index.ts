import { definePlugin, STAGE } from '@toolmgr/core';
import { createCapture } from './capture.ts';
import { auditConfig } from './config.ts';
import { contract } from './contract.ts';
import type { AuditEvent } from './event.ts';
import { createWanted } from './event-types.ts';
import { eventFromCall, type Making } from './from-call.ts';
import { eventFromRequest, eventFromStream } from './from-request.ts';
import { eventFromWorkflow } from './from-workflow.ts';
import { createJournal } from './journal.ts';
import { openSink } from './sink.ts';

const ADDRESS = 'audit';

/** One JSON line per request, call and workflow step, written after the reply. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'writes one JSON line per request, call and workflow step after its reply',
  ...contract,
  config: auditConfig,
  apply(core, config) {
    const making: Making = {
      detectApplicationErrors: config.detectApplicationErrors,
      capture: createCapture(config),
      isWanted: createWanted(config.eventTypes, config.excludeEventTypes),
    };
    const journal = createJournal(core);
    const note = (event: AuditEvent | undefined): void => {
      if (event !== undefined) journal.add(event);
    };
    const late = { name: ADDRESS, stage: STAGE.late }; // the trace is known by then
    core.hooks.callSettled.tap(late, (record) => note(eventFromCall(record, making)));
    core.hooks.requestSettled.tap(late, (record) => note(eventFromRequest(record, making)));
    core.hooks.streamOpened.tap(late, (record) => note(eventFromStream(record, making)));
    core.hooks.workflowAdvanced.tap(ADDRESS, (advanced) => note(eventFromWorkflow(advanced, making)));
    core.hooks.starting.tapPromise(ADDRESS, async () => journal.start(await openSink(config.logFile, core), config));
    core.hooks.stopping.tapPromise(ADDRESS, async () => journal.stop());
  },
});
