import type { Gateway, Plan } from '@toolmgr/core';
import type { GatewaySwitch } from '../../http/gateway-switch.ts';
import type { HostRoute } from '../../http/mount.ts';
import type { PageAccess } from '../../http/page-access.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { explainTool } from '../../shared/running/explain.ts';
import { VERSION } from '../../shared/version.ts';
import { factsOf } from '../facts.ts';
import type { SectionedConfig } from '../plan.ts';
import type { Section } from '../sections.ts';

/** The current configuration and plan. */
export interface Serving extends SectionedConfig {
  readonly plan: Plan;
  /** In a pod `/readyz` does not depend on backends. */
  readonly isPod?: boolean;
}

/** Routes of the host; they always show the current gateway. */
export interface HostRoutes {
  /** `/health`, `/ping` and `/readyz`: public. */
  readonly open: readonly HostRoute[];
  /** Routes that name backends or tools. */
  readonly pages: readonly HostRoute[];
}

/** Creates the routes. `access`: who may read the pages; `isGuarded`: whether the file protects them at any listener. */
export function hostRoutes(
  gatewaySwitch: GatewaySwitch,
  now: Serving,
  access: () => PageAccess | undefined,
  isGuarded: () => boolean,
): HostRoutes {
  const routes = statusRoutes(
    {
      backends: () => gatewaySwitch.current.backends(),
      catalog: () => gatewaySwitch.current.catalog(),
      settled: () => gatewaySwitch.current.settled(),
      unready: () => gatewaySwitch.current.unready(),
      sources: () => gatewaySwitch.current.sources(),
    },
    {
      version: VERSION,
      access,
      staysReady: now.isPod === true,
      // getters, because a reload may change the values
      get isGuarded() {
        return isGuarded();
      },
      get groupRef() {
        return now.config.groupRef;
      },
      get metadata() {
        return now.config.metadata;
      },
      get mode() {
        return factsOf(now.config, now.sections).backends.length > 0 ? 'static' : 'dynamic';
      },
      get isMonitored() {
        return isPlanned(now, ({ monitorsBackends }) => monitorsBackends === true);
      },
      get isStopping() {
        return gatewaySwitch.isStopping;
      },
      // if callers must authenticate but the page is public, names of tools and URIs are not shown
      conflicts: () => (isGuarded() || acceptsUnauthenticated(now) ? conflictsOf(gatewaySwitch) : []),
      authTypeOf: (backend) => gatewaySwitch.current.strategyOf(backend),
    },
  );
  const metrics: HostRoute = {
    path: '/metrics',
    access,
    // without protection the gateway's own route answers
    isOfHost: () => access() !== undefined,
    async answer() {
      const { status, headers, body } = await gatewaySwitch.current.read('/metrics');
      return { status, body, type: `${headers['content-type']}` };
    },
  };
  const explain: HostRoute = {
    path: '/api/explain',
    access,
    answer: (query) =>
      acceptsUnauthenticated(now)
        ? { status: 200, body: explainTool(gatewaySwitch.current, query.get('tool') ?? '') }
        : { status: 404, body: { error: 'not_found' } },
  };
  return {
    // a proxy forwards the public name; the pages are not for it
    open: routes
      .filter((route) => route.access === undefined)
      .map((route) => ({ ...route, publicHosts: () => now.plan.endpoint.allowedHosts })),
    // not on public addresses, because it shows how tools are configured
    pages: [
      ...routes.filter((route) => route.access !== undefined),
      metrics,
      ...(now.plan.endpoint.loopback ? [explain] : []),
    ],
  };
}

/** Whether callers need no authentication. If they do, loopback is not enough: a proxy in front of the gateway is local too. */
function acceptsUnauthenticated(now: Serving): boolean {
  return isPlanned(now, ({ choice }) => choice?.callers === 'anonymous' || choice?.callers === 'local');
}

/** Whether the plan has a plugin of such a section, named by the file or under `plugins:`. */
function isPlanned({ plan, sections }: Serving, is: (section: Section) => boolean): boolean {
  return sections.some((section) => is(section) && plan.plugins.some(({ use }) => use === section.address));
}

/** Conflicts of the catalogue for clients without capabilities. Empty while there is no catalogue; the log has the reason. */
function conflictsOf(gatewaySwitch: GatewaySwitch): ReturnType<Gateway['catalog']>['conflicts'] {
  try {
    return gatewaySwitch.current.catalog().conflicts;
  } catch {
    return [];
  }
}
