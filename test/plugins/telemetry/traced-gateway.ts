import type { Plugin } from '@toolmgr/core';
import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import telemetry from '../../../plugins/telemetry/index.ts';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts';

/** A gateway with its own collector. */
export interface TracedGateway extends AsyncDisposable {
  readonly kit: TestGateway;
  readonly collector: OtlpReceiver;
  /** Stops the gateway and returns what the collector received. */
  spans(): Promise<readonly ReceivedSpan[]>;
}

/** Boots a gateway that traces everything, unless `settings` differ. */
export async function tracedGateway(
  backends: TestBackends,
  settings: object = {},
  more: readonly Plugin[] = [],
  name = 'observed',
): Promise<TracedGateway> {
  const collector = await otlpReceiver();
  const config = { endpoint: collector.address, insecure: true, tracingEnabled: true, samplingRate: '1', ...settings };
  const kit = await testGateway({
    plugins: [telemetry, ...more],
    plan: {
      name,
      plugins: [{ use: telemetry.address, with: config }, ...more.map(({ address }) => ({ use: address }))],
    },
    backends,
  });
  return {
    kit,
    collector,
    async spans() {
      await kit.gateway.stop();
      return collector.spans;
    },
    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
      await collector[Symbol.asyncDispose]();
    },
  };
}

/** The only span with this name and kind. */
export function spanOf(spans: readonly ReceivedSpan[], name: string, kind: 1 | 2 | 3): ReceivedSpan {
  const found = spans.filter((span) => span.name === name && span.kind === kind);
  if (found[0] === undefined || found.length > 1) {
    const names = spans.map((span) => `${span.name} (${span.kind})`).join(', ');
    throw new Error(`expected one span ${name} (${kind}), got ${found.length} among ${names}`);
  }
  return found[0];
}
