import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type Core, definePlugin, GatewayFault, type Refusal, STAGE } from '@toolmgr/core';
import { pinChanged, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';
import { readSecretBytes } from '@toolmgr/plugins/kit/secrets';

import { createCapture } from './capture.ts';
import { openChainedSink } from './chained-sink.ts';
import { type AuditConfig, auditConfig } from './config.ts';
import type { AuditEvent } from './event.ts';
import { type EventContext, eventFromCall } from './event-from-call.ts';
import { eventFromPin } from './event-from-pin.ts';
import { eventFromRequest, eventFromStream } from './event-from-request.ts';
import { eventFromWorkflow } from './event-from-workflow.ts';
import { createTypeFilter } from './event-types.ts';
import { createJournal } from './journal.ts';
import { openSink, type Sink } from './sink.ts';

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
    if (config.onFailure === 'refuse') {
      core.hooks.authorize.tap({ name: ADDRESS, stage: STAGE.first }, () => (journal.isFailing ? REFUSED : undefined));
    }
    core.hooks.starting.tapPromise(ADDRESS, async () => journal.start(await sinkOf(config, core), config));
    core.hooks.stopping.tapPromise(ADDRESS, async () => journal.stop());
  },
});

const REFUSED: Refusal = {
  refused: true,
  status: 503,
  reason: 'calls are refused while the audit log cannot be written; try again later',
  retryAfterMs: 5_000,
};

async function sinkOf({ logFile, chain, component }: AuditConfig, core: Core): Promise<Sink> {
  if (chain === undefined) return openSink(logFile, core);
  return openChainedSink(logFile, core, { component, key: await signingKeyOf(chain, core) });
}

/** @throws GatewayFault PLAN_INVALID for a key that cannot sign, and like `readSecretBytes` */
async function signingKeyOf(
  { signingKey: reference }: NonNullable<AuditConfig['chain']>,
  { slots }: Core,
): Promise<KeyObject | undefined> {
  if (reference === undefined) return undefined;
  const pem = await readSecretBytes(slots, reference, SIGNING_KEY);
  const key = readKey(pem);
  if (key !== undefined && SIGNING.has(key.asymmetricKeyType ?? '')) return key;
  throw new GatewayFault(
    'PLAN_INVALID',
    `${SIGNING_KEY}: expected the PEM of a private key: Ed25519, EC or RSA, such as openssl genpkey -algorithm ed25519 writes`,
  );
}

const SIGNING_KEY = 'audit.chain.signingKey';
const SIGNING: ReadonlySet<string> = new Set(['ed25519', 'ec', 'rsa']);

function readKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined; // the cause may quote the key
  }
}
