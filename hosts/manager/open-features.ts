import { type Core, explainCause, GatewayFault, type Log, openPlugins, type Plugin, type Slot } from '@toolmgr/core';
import {
  type BackgroundContext,
  backgroundWork,
  type Operation,
  type OperationHome,
  operations,
  type PageView,
  pageViews,
} from '@toolmgr/plugins/kit/operations';
import { homesFor } from './homes.ts';
import { catalogue, DEFAULT_PLAN, type ManagerPlan } from './plan.ts';

/** Which plugins are loaded, and what they get. */
export interface FeatureOptions extends Omit<OperationHome, 'workloads'> {
  readonly version: string;
  readonly log: Log;
  /** Default: {@link DEFAULT_PLAN}. */
  readonly plan?: ManagerPlan | undefined;
  /** Folder of relative paths in the plan. */
  readonly baseDir?: string | undefined;
  /** Plugins as objects. */
  readonly inline?: readonly Plugin[] | undefined;
  /** Fills further slots. */
  readonly fill?: (core: Core) => void;
}

/** What the plugins of a plan offer. */
export interface Features {
  readonly operations: readonly Operation[];
  /** Address of the plugin that offers an operation. */
  readonly pluginOf: ReadonlyMap<Operation, string>;
  /** In the order of the navigation. */
  readonly views: readonly PageView[];
  /** Runs their background work. Resolves when all of it has ended after `context.signal`. */
  work(context: BackgroundContext): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Loads and applies the plugins of a plan. Nothing is read, written or started: the reference page is made from the result.
 * @throws GatewayFault PLUGIN_*, PLAN_INVALID also when two plugins serve the same route
 */
export async function openFeatures(options: FeatureOptions): Promise<Features> {
  const { version, log, plan = DEFAULT_PLAN, baseDir = process.cwd(), inline = [], fill, ...home } = options;
  const fillHomes = await homesFor(
    plan.map(({ use }) => use),
    home,
  );
  const { core, addresses, start, stop } = await openPlugins(plan, {
    title: 'the manager',
    server: { name: 'toolmgr-manager', version },
    log,
    environment: home.env,
    ...{ catalogue, inline, baseDir },
    fill(made) {
      fillHomes(made);
      fill?.(made);
    },
  });
  const filled = <T>(slot: Slot<T>) => {
    const entries = core.slot(slot);
    return addresses.flatMap((address) => (entries.has(address) ? [[address, entries.get(address)] as const] : []));
  };
  const offered = filled(operations);
  refuseEqualRoutes(offered);
  return {
    operations: offered.flatMap(([, own]) => own),
    pluginOf: new Map(offered.flatMap(([address, own]) => own.map((each) => [each, address] as const))),
    views: filled(pageViews)
      .flatMap(([, views]) => views)
      .sort((a, b) => a.order - b.order),
    async work(context) {
      const running = filled(backgroundWork).map(([address, run]) =>
        run(context).catch((cause: unknown) => log.error(`${address}: ended: ${explainCause(cause)}`)),
      );
      await Promise.all(running);
    },
    start,
    stop,
  };
}

function refuseEqualRoutes(offered: readonly (readonly [string, readonly Operation[]])[]): void {
  const owners = new Map<string, string>();
  for (const [address, own] of offered) {
    for (const { id, method, path } of own) {
      for (const key of [id, `${method} ${path}`]) {
        const owner = owners.get(key);
        if (owner !== undefined) {
          throw new GatewayFault('PLAN_INVALID', `${owner} and ${address} both offer ${key}: leave one of them out`);
        }
        owners.set(key, address);
      }
    }
  }
}
