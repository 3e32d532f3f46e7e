import { ApiError, type KubeObject, keyText, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { type EmbeddingServer, embeddingServer } from '../../kinds/embedding-server.ts';
import { typeOfKind } from '../../kinds/kind.ts';
import type { Controller, ReconcileContext } from '../../machinery/controller.ts';
import { type StatefulSet, services, statefulSets } from '../../objects/built-in-kinds.ts';
import { controllerOf, createOwnedObjects, type Ensured, type OwnedObjects } from '../../objects/owned-objects.ts';
import { currentObject, timedConditions, type WantedCondition, writeStatus } from '../write-status.ts';
import { type EmbeddingObjects, embeddingObjects } from './build-objects.ts';

const TYPE = typeOfKind(embeddingServer);

/** Runs embedding servers: a StatefulSet with a volume for the model, and a Service. */
export function embeddingServerController(): Controller<EmbeddingServer> {
  const owned = createOwnedObjects();
  /** Templates that the API server refused, by object; a changed object is tried again. */
  const refusedTemplates = new Map<string, { readonly generation: number | undefined; readonly message: string }>();
  return {
    name: embeddingServer.kind,
    type: TYPE,
    watches: [
      { type: statefulSets, keysOf: ownerOf },
      { type: services, keysOf: ownerOf },
    ],
    async reconcile(key, context) {
      const server = currentObject(context, TYPE, key);
      if (server === undefined) {
        refusedTemplates.delete(keyText(key));
        return owned.forget(embeddingServer.kind, key);
      }
      if (server.metadata.deletionTimestamp !== undefined) return report(server, { phase: 'Terminating' }, context);
      const refused = refusedTemplates.get(keyText(key));
      const isKnown = refused !== undefined && refused.generation === server.metadata.generation;
      const wanted = embeddingObjects(server, isKnown);
      const applied = await applyAll(
        server,
        isKnown ? { ...wanted, templateProblem: refused.message } : wanted,
        owned,
        context,
      );
      const { templateProblem } = applied.wanted;
      if (applied.isTemplateRefused && templateProblem !== undefined) {
        refusedTemplates.set(keyText(key), { generation: server.metadata.generation, message: templateProblem });
      }
      await report(server, applied, context);
    },
  };
}

/** What became of the objects. */
interface Applied {
  readonly wanted: EmbeddingObjects;
  readonly statefulSet?: StatefulSet;
  /** Why the objects are not as wanted; `isFinal` until something changes. */
  readonly problem?: { readonly message: string; readonly isFinal: boolean };
  readonly isTemplateRefused?: true;
}

async function applyAll(
  server: EmbeddingServer,
  wanted: EmbeddingObjects,
  owned: OwnedObjects,
  context: ReconcileContext,
): Promise<Applied> {
  try {
    const service = await owned.ensure(server, { type: services, object: wanted.service }, context);
    const ensured = await owned.ensure(server, { type: statefulSets, object: wanted.statefulSet }, context);
    const problem = problemOf(service) ?? problemOf(ensured);
    return {
      wanted,
      ...('object' in ensured ? { statefulSet: ensured.object } : {}),
      ...(problem === undefined ? {} : { problem }),
    };
  } catch (cause) {
    if (!isRefused(cause)) throw cause;
    const usesTemplate = server.spec.podTemplateSpec !== undefined && wanted.templateProblem === undefined;
    if (!usesTemplate) return { wanted, problem: { message: cause.message, isFinal: true } };
    const without = { ...embeddingObjects(server, true), templateProblem: cause.message };
    return { ...(await applyAll(server, without, owned, context)), isTemplateRefused: true };
  }
}

function problemOf(ensured: Ensured<KubeObject>): Applied['problem'] {
  if (ensured.result === 'foreign') return { message: ensured.message, isFinal: true };
  return ensured.result === 'blocked' ? { message: ensured.message, isFinal: false } : undefined;
}

/** The API server says that the object itself is wrong, so sending it again is useless. */
function isRefused(cause: unknown): cause is ApiError {
  return cause instanceof ApiError && (cause.status === 400 || cause.status === 422);
}

async function report(
  server: EmbeddingServer,
  applied: Applied | { readonly phase: 'Terminating' },
  context: ReconcileContext,
): Promise<void> {
  const {
    phase,
    message,
    readyReplicas = 0,
  } = 'phase' in applied ? { ...applied, message: 'the server is being deleted' } : stateOf(applied);
  const ready: WantedCondition = {
    type: 'Ready',
    status: phase === 'Ready' ? 'True' : 'False',
    reason: REASONS[phase],
    message,
  };
  const template = 'phase' in applied ? [] : templateCondition(server, applied.wanted.templateProblem);
  await writeStatus(context, TYPE, server, {
    observedGeneration: server.metadata.generation,
    ...{ phase, message, readyReplicas },
    ...('phase' in applied ? {} : { url: applied.wanted.url }),
    conditions: timedConditions(server, [ready, ...template], context.now()),
  });
}

type Phase = 'Pending' | 'Downloading' | 'Ready' | 'Failed' | 'Terminating';

const REASONS: Readonly<Record<Phase, string>> = {
  Pending: 'StatefulSetNotReady',
  Downloading: 'ModelDownloading',
  Ready: 'EmbeddingServerReady',
  Failed: 'StatefulSetFailed',
  Terminating: 'EmbeddingServerTerminating',
};

/** One ready pod is enough. `Downloading`: pods were created, and none is ready yet. */
function stateOf({ statefulSet, problem, wanted }: Applied): {
  readonly phase: Phase;
  readonly message: string;
  readonly readyReplicas?: number;
} {
  const { replicas = 0, readyReplicas = 0 } = statefulSet?.status ?? {};
  if (problem !== undefined) {
    return { phase: problem.isFinal ? 'Failed' : 'Pending', message: problem.message, readyReplicas };
  }
  const total = wanted.statefulSet.spec?.replicas ?? 1;
  const counted = `${readyReplicas} of ${total} pods are ready`;
  if (readyReplicas > 0) return { phase: 'Ready', message: counted, readyReplicas };
  if (replicas > 0) return { phase: 'Downloading', message: `${counted}; the first start downloads the model` };
  return { phase: 'Pending', message: 'no pod was created yet' };
}

function templateCondition({ spec }: EmbeddingServer, problem: string | undefined): readonly WantedCondition[] {
  const type = 'PodTemplateValid';
  if (spec.podTemplateSpec === undefined) return [];
  if (problem === undefined) {
    return [{ type, status: 'True', reason: 'ValidPodTemplateSpec', message: 'podTemplateSpec is merged' }];
  }
  const message = `podTemplateSpec is ignored: ${problem}`;
  return [{ type, status: 'False', reason: 'InvalidPodTemplateSpec', message }];
}

function ownerOf(object: KubeObject): readonly ObjectKey[] {
  const owner = controllerOf(object);
  const { namespace = '' } = object.metadata;
  return owner?.kind === embeddingServer.kind && owner.apiVersion === TYPE.apiVersion
    ? [{ namespace, name: owner.name }]
    : [];
}
