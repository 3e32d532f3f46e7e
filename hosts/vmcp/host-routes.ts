import type { CatalogConflict, Plan } from '@toolmgr/core';
import type { GatewaySwitch } from '../http/gateway-switch.ts';
import type { HostRoute } from '../http/mount.ts';
import type { PageAccess } from '../http/page-access.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { VERSION } from '../shared/version.ts';
import { explainTool } from './explain.ts';
import { factsOf } from './facts.ts';
import type { SectionedConfig } from './plan.ts';
import type { Section } from './sections.ts';

/** What is served now. */
export interface Serving extends SectionedConfig {
  readonly plan: Plan;
}

/** Routes of the host, of whatever gateway is current. */
export interface HostRoutes {
  /** `/health`, `/ping` and `/readyz`: open to everybody. */
  readonly open: readonly HostRoute[];
  /** Those that name backends or tools. */
  readonly pages: readonly HostRoute[];
}

/** Makes the routes; `access` says who may read the pages, `isGuarded` whether the file guards them anywhere. */
export function hostRoutes(
  door: GatewaySwitch,
  now: Serving,
  access: () => PageAccess | undefined,
  isGuarded: () => boolean,
): HostRoutes {
  const routes = statusRoutes(
    {
      backends: () => door.current.backends(),
      catalog: () => door.current.catalog(),
      settled: () => door.current.settled(),
      unready: () => door.current.unready(),
    },
    {
      version: VERSION,
      access,
      // read anew for each answer: a changed file may change them
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
        return door.isStopping;
      },
      // where callers need a proof and the page needs none, names of tools and URIs are not for whoever reaches the port
      conflicts: () => (isGuarded() || needsNoProof(now) ? conflictsOf(door) : []),
      authTypeOf: (backend) => (now.plan.outgoingAuth.backends[backend] ?? now.plan.outgoingAuth.default).type,
    },
  );
  const metrics: HostRoute = {
    path: '/metrics',
    access,
    // unguarded, the gateway answers by itself
    isOfHost: () => access() !== undefined,
    answer: () => metricsOf(door, now.plan),
  };
  const explain: HostRoute = {
    path: '/api/explain',
    access,
    answer: (query) =>
      needsNoProof(now)
        ? { status: 200, body: explainTool(door.current, now.plan, query.get('tool') ?? '') }
        : { status: 404, body: { error: 'not_found' } },
  };
  return {
    open: routes.filter((route) => route.access === undefined),
    // beyond this machine only callers the gateway knows may learn how tools are wired
    pages: [
      ...routes.filter((route) => route.access !== undefined),
      metrics,
      ...(now.plan.endpoint.loopback ? [explain] : []),
    ],
  };
}

/** Where callers need no proof, the routes of this machine need none. A proxy in front of a guarded gateway is local too. */
function needsNoProof(now: Serving): boolean {
  return isPlanned(now, ({ takesCallersWithoutProof }) => takesCallersWithoutProof === true);
}

/** Whether the plan has a plugin of such a section, named by the file or under `plugins:`. */
function isPlanned({ plan, sections }: Serving, is: (section: Section) => boolean): boolean {
  return sections.some((section) => is(section) && plan.plugins.some(({ use }) => use === section.address));
}

/** Of the catalogue for clients that declare nothing. None while there is no catalogue: the log has said why. */
function conflictsOf(door: GatewaySwitch): readonly CatalogConflict[] {
  try {
    return door.current.catalog().conflicts;
  } catch {
    return [];
  }
}

/** What the gateway answers there; its own guard of Host names gets one that it knows, ours has passed the real one. */
async function metricsOf(door: GatewaySwitch, { endpoint }: Plan) {
  const host = endpoint.allowedHosts?.[0] ?? 'localhost';
  const answer = await door.current.fetch(new Request('http://localhost/metrics', { headers: { host } }));
  return { status: answer.status, body: await answer.text(), type: answer.headers.get('content-type') ?? 'text/plain' };
}
