import { keyText, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { typeOfKind } from '../../kinds/kind.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Controller, Outcome } from '../../machinery/controller.ts';
import { deployments, pods } from '../../objects/built-in-kinds.ts';
import { createOwnedObjects } from '../../objects/owned-objects.ts';
import type { Defaults } from '../../resolve/related.ts';
import { resolveServer } from '../../resolve/resolve-server.ts';
import { contentsOf } from '../contents.ts';
import type { PodSettings } from './build-objects.ts';
import { namesOf } from './object-names.ts';
import { ownPluginsCondition } from './own-plugins-condition.ts';
import { countPods } from './pod-counts.ts';
import { createReportCleaner, readTexts, reportsOf } from './pod-reports.ts';
import { relatedObjects } from './related-objects.ts';
import { createRememberedResolutions } from './remembered-resolution.ts';
import { statusOf } from './server-status.ts';
import { createStatusWriter } from './status-writer.ts';
import { SERVER_INDEX, watchesOf } from './watches.ts';
import { writeObjects } from './write-objects.ts';

/** Settings of the controller. */
export interface VirtualMcpServerSettings {
  readonly pods: PodSettings;
  readonly defaults: Defaults;
  /** Default: {@link resolveServer}. */
  readonly resolve?: typeof resolveServer;
}

const TYPE = typeOfKind(virtualMcpServer);

/** When an object that the API server refuses is tried again: a quota or a right may have changed. */
const REFUSED_AGAIN_MS = 60_000;

/** The controller of VirtualMCPServers. */
export function createVirtualMcpServerController(settings: VirtualMcpServerSettings): Controller<VirtualMcpServer> {
  const { resolve = resolveServer } = settings;
  const owned = createOwnedObjects();
  const cleaner = createReportCleaner();
  const statuses = createStatusWriter(TYPE);
  const resolutions = createRememberedResolutions();

  const forget = (key: ObjectKey): void => {
    owned.forget(TYPE.kind, key);
    cleaner.forget({ namespace: key.namespace, name: namesOf(key.name).report });
    statuses.forget(key);
    resolutions.forget(key);
  };

  return {
    name: 'virtual-mcp-server',
    type: TYPE,
    watches: watchesOf(settings.defaults),
    async reconcile(key, context): Promise<Outcome | void> {
      const cached = context.caches.of(TYPE).get(key);
      if (cached === undefined) return forget(key);
      if (cached.metadata.deletionTimestamp !== undefined) return;
      const server = statuses.latest({ ...cached, apiVersion: TYPE.apiVersion, kind: TYPE.kind });
      const contents = contentsOf(context);
      const related = relatedObjects(key.namespace, context.caches, contents);
      const resolution = await resolutions.resolve(server, related, context.caches, (noted) =>
        resolve(server, noted, settings.defaults),
      );
      const { pod: inputs, imagePullSecrets } = resolution;
      const written =
        inputs === undefined
          ? { outcome: resolution.outcome, conditions: [], events: [] }
          : await writeObjects({ server, inputs, imagePullSecrets, settings: settings.pods, contents }, owned, context);
      const events = [...resolution.events, ...written.events];
      for (const event of events) context.events.emit(server, event);

      const own = context.caches.of(pods).byIndex(SERVER_INDEX, keyText(key));
      const reportMap = { namespace: key.namespace, name: namesOf(key.name).report };
      const texts = await readTexts(reportMap, contents, context);
      const checksum = written.outcome.result === 'ready' ? inputs?.checksum : undefined;
      const deployment = context.caches.of(deployments).get({ ...key, name: namesOf(key.name).deployment });
      const counts = countPods(own, checksum, deployment);
      const status = statusOf({
        server,
        key,
        resolution: { ...resolution, outcome: written.outcome },
        conditions: [...written.conditions, ...ownPluginsCondition(resolution, counts)],
        pods: counts,
        reports: reportsOf(texts, own, checksum),
        now: context.now(),
        ...(settings.defaults.clusterDomain === undefined ? {} : { clusterDomain: settings.defaults.clusterDomain }),
      });
      await statuses.write(server, status, context, events);
      const cleanAgain = await cleaner.clean(reportMap, texts, own, context);
      const again = 'isRefused' in written && written.isRefused ? REFUSED_AGAIN_MS : undefined;
      const waits = [cleanAgain, again].filter((ms) => ms !== undefined);
      return waits.length === 0 ? undefined : { againAfterMs: Math.max(1, Math.min(...waits)) };
    },
  };
}
