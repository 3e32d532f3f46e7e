import {
  createGateway,
  explainCause,
  type Gateway,
  type Log,
  type Plan,
  present,
  readPlan,
  type SecretSource,
} from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { readOptionalSecretFrom } from '@toolmgr/plugins/kit/secrets';
import { createSwitch, type GatewaySwitch } from '../../http/gateway-switch.ts';
import { isLoopbackHost } from '../../http/listen.ts';
import type { CallFeed } from '../../http/recent-calls/feed.ts';
import { recentCallsPlugin } from '../../http/recent-calls/plugin.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { driftCheck } from '../lock.ts';
import { type PlanFlags, planFromConfig, type SectionedConfig } from '../plan.ts';
import { type ServeOptions, switchedOnBy } from './options.ts';
import type { ImportFile } from './plugin-modules.ts';

/**
 * Creates the gateway of a configuration; `before` is the gateway that it replaces, whose client sessions continue.
 * @throws GatewayFault when the configuration cannot be served
 */
export type OpenGateway = (read: SectionedConfig, before?: Gateway) => Promise<OpenedGateway>;

/** A gateway and the plan that it was created with. */
export interface OpenedGateway {
  readonly gateway: Gateway;
  readonly plan: Plan;
}

/** What gateways are created with, besides their configuration. */
export interface GatewayParts {
  readonly flags: PlanFlags;
  readonly baseDir: string;
  /** Imports plugins that are files or packages. */
  readonly importFile?: ImportFile | undefined;
  readonly log: Log;
  /** Receives the calls for the page; `undefined` without a page. */
  readonly feed: CallFeed | undefined;
  /** A gateway that would end the client sessions of the one that it replaces is not created. */
  readonly sessionsMustMove: boolean;
  /** The first gateway is refused when its backends list what this file does not have. */
  readonly lock?: string | undefined;
}

/** Makes the function that creates a gateway for the first configuration and for each changed one. */
export function gatewayOpener(parts: GatewayParts): OpenGateway {
  const { flags, baseDir, importFile, log, feed, sessionsMustMove, lock } = parts;
  return async (read, before) => {
    const planned = { ...httpClientFrom(process.env), ...planFromConfig(read, flags) };
    const drift = lock === undefined || before !== undefined ? undefined : driftCheck(lock);
    const plugins = [
      ...(feed === undefined ? [] : [recentCallsPlugin(feed)]),
      ...(drift === undefined ? [] : [drift.plugin]),
    ];
    const added = plugins.map(({ address }) => ({ use: address }));
    const input = added.length === 0 ? planned : { ...planned, plugins: [...planned.plugins, ...added] };
    const successor = before === undefined ? {} : { successorOf: before, sessionsMustMove };
    const gateway = await createGateway(input, {
      catalogue,
      log,
      plugins,
      baseDir,
      importFile,
      ownsProcess: true,
      ...successor,
    });
    await drift?.check(gateway).catch(async (cause) => {
      await gateway.stop();
      throw cause;
    });
    return { gateway, plan: readPlan(input) };
  };
}

/** A switch in front of the first gateway. It logs the gateways that fail to stop. */
export function switchTo(first: Gateway, log: Log): GatewaySwitch {
  return createSwitch(first, (cause) => log.error('a gateway failed to stop', { cause: explainCause(cause) }));
}

/** Flags of the plan: those of the command line, and the key of shared state from the environment. */
export async function planFlagsOf(options: ServeOptions, secrets: SecretSource): Promise<PlanFlags> {
  const stateKey = (await readOptionalSecretFrom(secrets, 'TOOLMGR_STATE_KEY'))?.reveal();
  return {
    loopback: isLoopbackHost(options.host),
    switchedOn: switchedOnBy(options),
    ...present({ stateKey, memoryBudgetBytes: options.memoryBudget }),
    ...(options.sessionTtl ? { sessionTtlMs: options.sessionTtl } : {}),
  };
}
