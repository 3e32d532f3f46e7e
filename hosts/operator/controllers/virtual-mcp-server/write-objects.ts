import { ApiError, keyOf, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { EventText, ReconcileContext } from '../../machinery/controller.ts';
import { type Deployment, deployments } from '../../objects/built-in-kinds.ts';
import { contentHash } from '../../objects/content-hash.ts';
import type { Ensured, OwnedObjects } from '../../objects/owned-objects.ts';
import type { Outcome, PodInputs, Resolution } from '../../resolve/resolution.ts';
import type { Contents } from '../contents.ts';
import type { WantedCondition } from '../write-status.ts';
import {
  buildObjects,
  type PodSettings,
  REPLICAS_ANNOTATION,
  type WantedObject,
  withStateKey,
} from './build-objects.ts';
import { type EnsuredStateKey, ensureStateKey } from './state-key.ts';

/** What came of writing the objects. */
export interface WrittenObjects {
  readonly outcome: Outcome;
  readonly conditions: readonly WantedCondition[];
  readonly events: readonly EventText[];
  /** An error that no event of the cluster ends, such as a missing right: try again later. */
  readonly isRefused?: true;
}

/** Parameters of {@link writeObjects}. */
export interface WriteInput {
  readonly server: VirtualMcpServer;
  readonly inputs: PodInputs;
  readonly imagePullSecrets: Resolution['imagePullSecrets'];
  readonly settings: PodSettings;
  readonly contents: Contents;
}

/**
 * Applies the objects of a VirtualMCPServer in order, and deletes those that are no longer wanted. An invalid `podTemplateSpec`
 * writes nothing; an object of another owner ends the writing before the pods change.
 * @throws ApiError when the API cannot be reached or is overloaded
 */
export async function writeObjects(
  { server, inputs, imagePullSecrets, settings, contents }: WriteInput,
  owned: OwnedObjects,
  context: ReconcileContext,
): Promise<WrittenObjects> {
  const events: EventText[] = [];
  let stateKeyHash = '';
  const ensure = async (wanted: WantedObject): Promise<Ensured | EnsuredStateKey> => {
    const { type, object } = wanted;
    if (type.kind === 'Secret') {
      const ensured = await ensureStateKey(server, object, context, contents);
      if ('hash' in ensured) stateKeyHash = ensured.hash;
      return ensured;
    }
    if (type.kind !== 'Deployment') return owned.ensure(server, wanted, context);
    await keepReplicas(wanted, context);
    return owned.ensure(server, { ...wanted, object: withStateKey(object, stateKeyHash) }, context);
  };
  const built = buildObjects({ server, inputs, imagePullSecrets, settings });
  if ('templateProblem' in built) return failed(server, built.templateProblem, INVALID_TEMPLATE);
  const conditions = server.spec.podTemplateSpec === undefined ? [] : [VALID_TEMPLATE];
  for (const wanted of built.wanted) {
    let ensured: Ensured | EnsuredStateKey;
    try {
      ensured = await ensure(wanted);
    } catch (cause) {
      if (!isRefusal(cause)) throw cause;
      return refused(server, wanted, cause, context);
    }
    if (ensured.result === 'blocked') {
      return { outcome: { result: 'waiting', phase: 'Pending', message: ensured.message }, conditions, events };
    }
    if ('message' in ensured) {
      const because = wanted.type.kind === 'Secret' ? STATE_KEY_FAILURES[ensured.result] : {};
      const unusable = failed(server, ensured.message, because);
      return {
        ...{ ...unusable, isRefused: true },
        conditions: [...conditions, ...unusable.conditions],
        events: [...events, ...unusable.events],
      };
    }
    events.push(...eventOf(wanted, ensured, context.now()));
  }
  for (const { type, name } of built.unwanted) {
    await owned.remove(server, type, { namespace: keyOf(server).namespace, name }, context);
  }
  return { outcome: { result: 'ready' }, conditions, events };
}

const VALID_TEMPLATE: WantedCondition = {
  type: 'PodTemplateSpecValid',
  status: 'True',
  reason: 'ValidPodTemplateSpec',
  message: 'spec.podTemplateSpec is merged into the pod template',
};

/** Reason of the event of a failure, and the condition that is False with it. */
interface Failure {
  readonly reason?: string;
  readonly condition?: string;
}

const INVALID_TEMPLATE: Failure = { reason: 'InvalidPodTemplateSpec', condition: 'PodTemplateSpecValid' };

/** Absent while there is a key. */
const OF_STATE_KEY = { condition: 'StateKeyValid' } as const;
const STATE_KEY_FAILURES = {
  foreign: { ...OF_STATE_KEY, reason: 'HMACSecretValidationFailed' },
  invalid: { ...OF_STATE_KEY, reason: 'HMACSecretValidationFailed' },
  ungenerated: { ...OF_STATE_KEY, reason: 'HMACSecretGenerationFailed' },
} as const satisfies Readonly<Record<string, Failure>>;

function failed(
  { metadata: { generation = 0 } }: VirtualMcpServer,
  message: string,
  { reason, condition }: Failure,
): WrittenObjects {
  const outcome = { result: 'failed', phase: 'Failed', message } as const;
  if (reason === undefined) return { outcome, conditions: [], events: [] };
  const transition = `${generation}/${contentHash(message)}`;
  return {
    outcome,
    conditions: condition === undefined ? [] : [{ type: condition, status: 'False', reason, message }],
    events: [{ type: 'Warning', reason, message, action: 'Reconcile', transition }],
  };
}

/**
 * The number of pods when `spec.replicas` is removed: without another manager of the field, the API server would set it to 1.
 * An autoscaler takes the field over with its first change.
 */
async function keepReplicas({ object }: WantedObject, { api, caches }: ReconcileContext): Promise<void> {
  const { spec } = object as Deployment;
  if (spec.replicas !== undefined) return;
  const key: ObjectKey = keyOf(object);
  const live = caches.of(deployments).get(key);
  if (live?.metadata.annotations?.[REPLICAS_ANNOTATION] === undefined) return;
  const { uid, generation = 0, annotations } = live.metadata;
  // this write was made, and the process ended before the next one
  if (annotations[KEPT_ANNOTATION] === `${generation}`) return;
  const kept = { replicas: live.spec.replicas ?? 1 } as Deployment['spec'];
  const { apiVersion, kind } = deployments;
  const metadata = {
    ...key,
    ...(uid === undefined ? {} : { uid }),
    annotations: { [KEPT_ANNOTATION]: `${generation + 1}` }, // a changed annotation of a Deployment is a new generation
  };
  await api.apply(deployments, { apiVersion, kind, metadata, spec: kept }, { manager: 'toolmgr-operator-replicas' });
}

/** Generation of the Deployment at which another manager got the number of pods. */
const KEPT_ANNOTATION = 'toolmgr.dev/kept-replicas';

/** The API server will refuse the same object again. A field that a type does not have is a 500 of server-side apply. */
function isRefusal(cause: unknown): cause is ApiError {
  if (!(cause instanceof ApiError)) return false;
  return REFUSALS.has(cause.status) || (cause.status === 500 && cause.message.includes('typed patch object'));
}

const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/** Characters of an answer of the API in a status. */
const MAX_CAUSE = 2_000;

function refused(
  server: VirtualMcpServer,
  { type: { kind }, object }: WantedObject,
  cause: ApiError,
  { caches }: ReconcileContext,
): WrittenObjects {
  const message = `${kind} ${object.metadata.name} was refused: ${cause.message.slice(0, MAX_CAUSE)}`;
  const { podTemplateSpec } = server.spec;
  if (kind === 'Deployment' && podTemplateSpec !== undefined && cause.status !== 403) {
    return { ...failed(server, message, INVALID_TEMPLATE), isRefused: true };
  }
  const exists = caches.of(deployments).get(keyOf(object)) !== undefined;
  const refusal = failed(server, message, FAILED[kind]?.[exists ? 'update' : 'create'] ?? {});
  const conditions = podTemplateSpec === undefined ? refusal.conditions : [VALID_TEMPLATE, ...refusal.conditions];
  return { ...refusal, conditions, isRefused: true };
}

/** Source: reference of events. */
const FAILED: Readonly<Record<string, { readonly create: Failure; readonly update?: Failure }>> = {
  Deployment: { create: { reason: 'DeploymentCreationFailed' }, update: { reason: 'DeploymentUpdateFailed' } },
  Service: { create: { reason: 'ServiceCreationFailed' } },
  Secret: { create: { ...OF_STATE_KEY, reason: 'HMACSecretCreationFailed' } },
};

/**
 * The event of a write. That of a creation is repeated for some time, in case the process ended before it was reported: the
 * recorder reports a transition once.
 */
function eventOf({ type: { kind } }: WantedObject, { result, object }: Kept, nowMs: number): readonly EventText[] {
  const { name, uid = '', generation = 0, creationTimestamp = '' } = object.metadata;
  const isYoung = Math.abs(nowMs - Date.parse(creationTimestamp)) < YOUNG_MS;
  const subject = kind === 'Secret' ? 'HMACSecret' : kind;
  const events: readonly EventText[] = [
    { ...NORMAL, reason: `${subject}Created`, message: `${kind} ${name} was created`, transition: uid },
    { ...NORMAL, reason: `${kind}Updated`, message: `${kind} ${name} was updated`, transition: `${uid}/${generation}` },
  ];
  const happened = [result === 'created' || isYoung, result === 'updated'];
  return events.filter(({ reason }, at) => happened[at] === true && REPORTED.has(reason));
}

type Kept = Extract<Ensured, { readonly object: unknown }>;

const NORMAL = { type: 'Normal', action: 'Reconcile' } as const;
const YOUNG_MS = 120_000;
const REPORTED: ReadonlySet<string> = new Set([
  ...['DeploymentCreated', 'DeploymentUpdated', 'ServiceCreated', 'HMACSecretCreated'],
]);
