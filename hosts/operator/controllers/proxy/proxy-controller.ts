import { explainIssues } from '@toolmgr/core';
import { ApiError, keyOf, type ObjectKey, type Resource, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { z } from 'zod';
import { type KindDefinition, typeOfKind } from '../../kinds/kind.ts';
import type { Outcome as Again, Controller, EventText, ReconcileContext } from '../../machinery/controller.ts';
import { deployments, type Pod, pods } from '../../objects/built-in-kinds.ts';
import { contentHash } from '../../objects/content-hash.ts';
import { createOwnedObjects, type Ensured, type OwnedObjects } from '../../objects/owned-objects.ts';
import { createFindings, type Findings } from '../../resolve/findings.ts';
import { createLookups } from '../../resolve/lookups.ts';
import { createPodParts } from '../../resolve/pod-parts.ts';
import type { Defaults } from '../../resolve/related.ts';
import type { Outcome } from '../../resolve/resolution.ts';
import { withoutUndefined } from '../../resolve/strategy.ts';
import { contentsOf } from '../contents.ts';
import { groupRefCondition } from '../group-ref.ts';
import { relatedObjects } from '../virtual-mcp-server/related-objects.ts';
import { currentObject, timedConditions, type WantedCondition, writeStatus } from '../write-status.ts';
import { type Hashes, namedAsProxy, type ProxyContext, type ProxySpec } from './proxy-context.ts';
import type { ProxyKind } from './proxy-labels.ts';
import type { WantedObject } from './proxy-objects.ts';
import { proxyPhase } from './proxy-phase.ts';
import { type ProxyPods, proxyPods } from './proxy-pods.ts';
import { OWNER_INDEX, ownerValue, proxyWatches } from './proxy-watches.ts';

/** What is special to one of the two kinds. */
export interface ProxyDefinition<Spec extends ProxySpec> {
  readonly kind: KindDefinition<z.ZodType<Spec>> & { readonly kind: ProxyKind };
  /** Name of the Deployment. */
  deploymentOf(name: string): string;
  /** URL for clients in the cluster. */
  urlOf(key: ObjectKey, spec: Spec): string;
  /** The objects, in the order in which they are written. Nothing when a check failed, which is told. */
  build(input: BuildInput<Spec>): Promise<Built>;
  /** Conditions from the state of the pods. */
  conditionsOf?(proxy: ProxyPods): readonly WantedCondition[];
  /** The server behind the proxy has pods. */
  readonly hasServer: boolean;
}

export interface BuildInput<Spec> {
  readonly key: ObjectKey;
  readonly spec: Spec;
  readonly url: string;
  readonly context: ProxyContext;
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** The platform assigns user ids to namespaces, and refuses others. */
  readonly isOpenShift: boolean;
}

export interface Built {
  readonly hashes: Hashes;
  readonly wanted?: readonly WantedObject[];
  readonly unwanted?: readonly { readonly type: ResourceType; readonly name: string }[];
}

/** Settings of the operator for proxies. */
export interface ProxySettings {
  readonly image: string;
  readonly isOpenShift: boolean;
  readonly defaults: Defaults;
}

/** When an object that the API server refuses is tried again: a quota or a right may have changed. */
const REFUSED_AGAIN_MS = 60_000;

/** The controller of a kind with a proxy. */
export function createProxyController<Spec extends ProxySpec>(
  definition: ProxyDefinition<Spec>,
  { image, isOpenShift, defaults }: ProxySettings,
): Controller<Resource> {
  const { kind } = definition;
  const type = typeOfKind(kind) as ResourceType<Resource>;
  const owned = createOwnedObjects();
  return {
    name: kind.plural,
    type,
    watches: proxyWatches(kind.kind),
    async reconcile(key, reconcile): Promise<Again | void> {
      const { caches } = reconcile;
      const cached = currentObject(reconcile, type, key);
      if (cached === undefined) return owned.forget(kind.kind, key);
      if (cached.metadata.deletionTimestamp !== undefined) return;
      const object: Resource = { ...cached, apiVersion: type.apiVersion, kind: kind.kind };
      const lookups = createLookups(relatedObjects(key.namespace, caches, contentsOf(reconcile)));
      const previous = (object.status as { conditions?: never[] } | undefined)?.conditions ?? [];
      const findings = namedAsProxy(createFindings(object.metadata.generation ?? 1, previous), kind.kind);
      const pod = createPodParts(lookups);
      const context: ProxyContext = { ...key, lookups, findings, pod, defaults };
      const read = kind.spec.safeParse(object.spec);
      const spec = read.success ? read.data : undefined;
      let url = '';
      let built: Built = { hashes: {} };
      if (read.success) {
        tellGroup(read.data, key, findings, reconcile);
        url = definition.urlOf(key, read.data);
        const imagePullSecrets = defaults.imagePullSecrets ?? [];
        built = await definition.build({ key, spec: read.data, url, context, image, imagePullSecrets, isOpenShift });
      } else {
        const message = explainIssues('spec', kind.spec, read.error).join('; ');
        findings.fail('ConfigurationValid', 'ValidationFailed', message);
      }
      const resolved = findings.result();
      const written: Written =
        built.wanted === undefined || resolved.outcome.result !== 'ready'
          ? { outcome: resolved.outcome, events: [] }
          : await writeAll(object, built, owned, reconcile);
      const events = [...resolved.events, ...written.events];
      for (const event of events) reconcile.events.emit(object, event);
      const all = caches.of(pods).byIndex(OWNER_INDEX, ownerValue(kind.kind, key)) as readonly Pod[];
      const deployment = caches.of(deployments).get({ ...key, name: definition.deploymentOf(key.name) });
      const proxy = proxyPods(all, 'proxy', deployment);
      const isStopped = spec?.replicas === 0;
      const { phase, reason, message } = proxyPhase({
        outcome: written.outcome,
        proxy,
        ...(definition.hasServer ? { server: proxyPods(all, 'server') } : {}),
        isStopped,
      });
      const conditions: readonly WantedCondition[] = [
        { type: 'Ready', status: phase === 'Ready' ? 'True' : 'False', reason, message },
        ...withAuth(resolved.conditions, spec !== undefined),
        ...(definition.conditionsOf?.(proxy) ?? []),
      ];
      const status = withoutUndefined({
        phase: phase === 'Stopped' && !definition.hasServer ? 'Pending' : phase,
        message,
        url: url === '' ? undefined : url,
        readyReplicas: proxy.ready,
        observedGeneration: object.metadata.generation,
        ...built.hashes,
        conditions: timedConditions(object, conditions, reconcile.now()),
      });
      await writeStatus(reconcile, type, object, status, events);
      return written.isRefused ? { againAfterMs: REFUSED_AGAIN_MS } : undefined;
    },
  };
}

/** A group that is not there does not stop the server: it only has no aggregator. */
function tellGroup(
  { groupRef }: ProxySpec,
  { namespace }: ObjectKey,
  findings: Findings,
  { caches }: ReconcileContext,
) {
  if (groupRef === undefined) return;
  const { type, status, reason, message } = groupRefCondition({ namespace, name: groupRef.name }, caches);
  findings.tell(type, status, reason, message);
}

function withAuth(conditions: readonly WantedCondition[], isRead: boolean): readonly WantedCondition[] {
  if (!isRead || conditions.some(({ type }) => type === 'AuthConfigured')) return conditions;
  const failed = conditions.find(({ type, status }) => AUTH.has(type) && status === 'False');
  return [
    ...conditions,
    failed === undefined
      ? {
          type: 'AuthConfigured',
          status: 'True',
          reason: 'AuthValid',
          message: 'authentication and authorization are configured',
        }
      : { type: 'AuthConfigured', status: 'False', reason: 'AuthInvalid', message: failed.message },
  ];
}

const AUTH: ReadonlySet<string> = new Set([
  'OIDCConfigRefValidated',
  'AuthzConfigRefValidated',
  'ExternalAuthConfigValidated',
  'AuthServerRefValidated',
  'AuthServerConfigValidated',
]);

interface Written {
  readonly outcome: Outcome;
  readonly events: readonly EventText[];
  /** An error that no event of the cluster ends, such as a missing right. */
  readonly isRefused?: true;
}

/** Applies the objects in order; an object of another owner, or a refusal, ends the writing. @throws ApiError */
async function writeAll(
  owner: Resource,
  { wanted = [], unwanted = [] }: Built,
  owned: OwnedObjects,
  context: ReconcileContext,
): Promise<Written> {
  const events: EventText[] = [];
  for (const each of wanted) {
    const { kind } = each.type;
    let ensured: Ensured;
    try {
      ensured = await owned.ensure(owner, each, context);
    } catch (cause) {
      if (!(cause instanceof ApiError) || ![400, 403, 422].includes(cause.status)) throw cause;
      const message = `${kind} ${each.object.metadata.name} was refused: ${cause.message}`;
      return {
        outcome: failed(message),
        events: [...events, warning(`${kind}Refused`, message, owner)],
        isRefused: true,
      };
    }
    if (ensured.result === 'foreign') return { outcome: failed(ensured.message), events };
    if (ensured.result === 'blocked') {
      return { outcome: { result: 'waiting', phase: 'Pending', message: ensured.message }, events };
    }
    if (ensured.result !== 'unchanged' && REPORTED.has(kind)) {
      const { name, uid = '', generation = 0 } = ensured.object.metadata;
      events.push({
        ...{ type: 'Normal', action: 'Reconcile', transition: `${uid}/${generation}` },
        reason: `${kind}${ensured.result === 'created' ? 'Created' : 'Updated'}`,
        message: `${kind} ${name} was ${ensured.result}`,
      });
    }
  }
  const { namespace } = keyOf(owner);
  for (const { type, name } of unwanted) await owned.remove(owner, type, { namespace, name }, context);
  return { outcome: { result: 'ready' }, events };
}

const REPORTED: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'Service']);

function failed(message: string): Outcome {
  return { result: 'failed', phase: 'Failed', message };
}

function warning(reason: string, message: string, { metadata: { generation = 0 } }: Resource): EventText {
  return { type: 'Warning', action: 'Reconcile', reason, message, transition: `${generation}/${contentHash(message)}` };
}
