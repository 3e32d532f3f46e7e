import { GatewayFault } from '../errors.ts';
import { assemble, type GatewayOptions } from './assemble.ts';
import type { PlanInput } from './plan.ts';

/** What {@link checkPlan} left out. */
export interface PlanCheck {
  /** Secrets that could not be read, one sentence each. They may be set where the gateway runs. */
  readonly missingSecrets: readonly string[];
  /** Addresses of plugins whose start was not tried: they open files or connections, or are not of the catalogue. */
  readonly notStarted: readonly string[];
}

/**
 * Refuses what {@link createGateway} refuses, without opening anything: plugins are loaded and applied, strategies
 * prepared, routes mounted. Of the start it runs the steps of catalogue plugins that wait for nothing, because they only
 * look up and compile.
 * @throws GatewayFault like `createGateway`
 */
export async function checkPlan(input: PlanInput, options: GatewayOptions = {}): Promise<PlanCheck> {
  const missingSecrets: string[] = [];
  const { hooks, loaded, joined } = await assemble(input, options, (cause) => {
    if (!isMissingSecret(cause)) throw cause;
    missingSecrets.push(cause.message);
    return { apply() {} };
  });
  try {
    const known = new Set(loaded.flatMap(({ plugin, isForeign }) => (isForeign ? [] : [plugin.address])));
    const notStarted: string[] = [];
    for (const { name, type, fn } of hooks.starting.taps) {
      if (type === 'sync' && known.has(name)) fn();
      else notStarted.push(name);
    }
    return { missingSecrets, notStarted };
  } finally {
    await joined.gateway.stop();
  }
}

function isMissingSecret(cause: unknown): cause is GatewayFault {
  return cause instanceof GatewayFault && (cause.code === 'SECRET_MISSING' || cause.code === 'SECRETS_UNAVAILABLE');
}
