import type { Core, JsonObject, Plugin } from '@toolmgr/core';
import type { z } from 'zod';
import { createExtensionPoints } from '../../core/extension/extension-points.ts';
import { createHooks } from '../../core/extension/hooks.ts';
import { createSlots } from '../../core/extension/slots.ts';
import { environmentSecrets } from '../../plugins/secrets/environment/environment-secrets.ts';

/** One logged line. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: JsonObject;
}

/** A core with real hooks and slots but without a gateway, for tests of one plugin. */
export interface PluginCore extends Core {
  readonly lines: readonly LoggedLine[];
  readonly clock: { nowMs: number };
}

/** Creates a core, parses the configuration with the plugin's schema, applies the plugin and starts it. */
export async function bootPlugin<S extends z.ZodType>(plugin: Plugin<S>, config: z.input<S>): Promise<PluginCore> {
  const core = pluginCore();
  plugin.apply(core, plugin.config.parse(config));
  await core.hooks.starting.promise();
  return core;
}

/** Makes the core alone, with the secrets of an environment as every host has it. */
export function pluginCore(environment: NodeJS.ProcessEnv = process.env): PluginCore {
  const lines: LoggedLine[] = [];
  const clock = { nowMs: 1_800_000_000_000 };
  const log =
    (level: LoggedLine['level']) =>
    (message: string, fields: JsonObject = {}) => {
      lines.push({ level, message, fields });
    };
  const slots = createSlots();
  const report = (fault: Error): void => void lines.push({ level: 'error', message: fault.message, fields: {} });
  const hooks = createHooks(report);
  const { slot, hook } = createExtensionPoints({ hooks, slots }, report);
  slots.secretSources.register('environment', environmentSecrets(environment));
  return {
    hooks,
    slots,
    slot,
    hook,
    perform: async () => {
      throw new Error('this core has no gateway');
    },
    toolsFor: async () => [],
    reachable: () => [],
    endpoint: { serveOnly: () => undefined, serveDirect: () => undefined },
    environment,
    now: () => clock.nowMs,
    bytesInFlight: () => ({ held: 0, most: 0, refused: 0 }),
    backends: {
      states: () => [],
      strategyOf: () => 'unauthenticated',
      probe: async () => {
        throw new Error('this core has no backends');
      },
      setHealth: () => undefined,
      credentialsChanged: () => {},
      reshape: () => undefined,
      requireAll: () => undefined,
    },
    server: { name: 'test-gateway', version: '1.2.3' },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    lines,
    clock,
  };
}
