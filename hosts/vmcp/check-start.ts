import { dirname, resolve } from 'node:path';
import { checkPlan, createLog, GatewayFault } from '@toolmgr/core';
import { catalogue, environmentSecrets } from '@toolmgr/plugins';
import { isNotLoaded } from './left-plugins.ts';
import { planFromConfig, type SectionedConfig } from './plan.ts';
import type { ReadConfig } from './read-config.ts';
import { tokenOf } from './serve/status-pages.ts';

/** What a start would say about a file. */
export interface StartCheck {
  readonly warnings: readonly string[];
  /** What only a start checks, one sentence each. */
  readonly notChecked: readonly string[];
}

type CheckedFile = Pick<ReadConfig, 'config' | 'sections' | 'notLoaded'>;

/**
 * Applies the plugins of a file as `vmcp serve` does, and starts nothing. Nothing is applied where a plugin of the file was not
 * loaded: others may need what it adds.
 * @throws GatewayFault any fault that prevents a start
 */
export async function checkStart(read: CheckedFile, file: string): Promise<StartCheck> {
  if (read.notLoaded.length > 0) return withoutPlugins(read);
  const warnings: string[] = [];
  const log = { ...createLog('silent', () => {}), warn: (message: string) => void warnings.push(message) };
  const options = { catalogue, baseDir: dirname(resolve(file)), log };
  const { missingSecrets, notStarted } = await checkPlan(planFromConfig(read), options);
  const steps = notStarted.length === 0 ? [] : [`what these plugins do at the start: ${notStarted.join(', ')}`];
  return { warnings, notChecked: [...(await missingToken(read)), ...missingSecrets, ...steps] };
}

function withoutPlugins({ config, sections, notLoaded }: CheckedFile): StartCheck {
  const plugins = notLoaded.map((use) => `${use} is not loaded (--load-plugins loads it, which runs its code)`);
  const unread = sections
    .filter(isNotLoaded)
    .map(({ contractKey }) => `the section ${contractKey}: a plugin that is not loaded may read it`);
  const callers = config.incomingAuth === undefined ? [UNKNOWN_CALLERS] : [];
  return {
    warnings: [],
    notChecked: [...plugins, ...unread, ...callers, 'what a start says: not all plugins are loaded'],
  };
}

const UNKNOWN_CALLERS =
  'whether a plugin authenticates callers: the file has no incomingAuth, and it cannot be served if none does';

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
