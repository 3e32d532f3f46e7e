import { dirname, resolve } from 'node:path';
import { checkPlan, createLog, GatewayFault } from '@toolmgr/core';
import { catalogue, environmentSecrets } from '@toolmgr/plugins';
import { planFromConfig, type SectionedConfig } from './plan.ts';
import { tokenOf } from './serve/status-pages.ts';

/** What a start would say about a file. */
export interface StartCheck {
  readonly warnings: readonly string[];
  /** What only a start checks, one sentence each. */
  readonly notChecked: readonly string[];
}

/**
 * Applies the plugins of a file as `vmcp serve` does, and starts nothing.
 * @throws GatewayFault any fault that prevents a start
 */
export async function checkStart(read: SectionedConfig, file: string): Promise<StartCheck> {
  const warnings: string[] = [];
  const log = { ...createLog('silent', () => {}), warn: (message: string) => void warnings.push(message) };
  const options = { catalogue, baseDir: dirname(resolve(file)), log };
  const { missingSecrets, notStarted } = await checkPlan(planFromConfig(read), options);
  const steps = notStarted.length === 0 ? [] : [`what these plugins do at the start: ${notStarted.join(', ')}`];
  return { warnings, notChecked: [...(await missingToken(read)), ...missingSecrets, ...steps] };
}

/** The sentence about the token of the status pages when it is not set here. */
async function missingToken({ config: { statusPages } }: SectionedConfig): Promise<readonly string[]> {
  if (statusPages === undefined) return [];
  try {
    await tokenOf(statusPages, environmentSecrets(process.env));
    return [];
  } catch (cause) {
    if (cause instanceof GatewayFault && cause.code === 'SECRET_MISSING') return [cause.message];
    throw cause;
  }
}
