import { keyOf, type ObjectKey, type Resource } from '@toolmgr/plugins/kit/kubernetes';
import { API_GROUP } from '../kinds/kind.ts';
import type { Controller, Outcome, ReconcileContext, Watched } from '../machinery/controller.ts';
import { contentHash } from '../objects/content-hash.ts';
import { oversize } from '../resolve/spec-size.ts';
import { setFinalizer } from './finalizer.ts';
import { REFERENCE_FIELDS, type Referrer, referencesOf, referrersOf, typeNamed } from './references.ts';
import { conditionOf, currentObject, timedConditions, type WantedCondition, writeStatus } from './write-status.ts';

/** Checks one kind of configuration. */
export interface ConfigKind {
  readonly kind: string;
  /** Why gateways cannot use a configuration; `undefined` when they can. Depends on nothing but the object. */
  check(object: Resource): Promise<ConfigProblem | undefined>;
  /** Conditions beside `Valid`. */
  readonly more?: (object: Resource) => Promise<readonly WantedCondition[]>;
}

/** Why a configuration is not valid. */
export interface ConfigProblem {
  readonly reason: 'ValidationFailed' | 'EnterpriseRequired' | 'InvalidConfig';
  readonly message: string;
}

const FALLBACK_MS = 30_000; // referrers are watched; this is for a lost event
const SHOWN_REFERRERS = 20;

/**
 * A controller of a configuration that other objects name: it checks the configuration, writes the hash of its spec, and keeps a
 * deleted one until nothing refers to it.
 */
export function configController(config: ConfigKind): Controller<Resource> {
  const { kind } = config;
  const type = typeNamed(kind);
  const finalizer = `${kind.toLowerCase()}.${API_GROUP}/finalizer`;
  return {
    name: kind,
    type: type as Controller<Resource>['type'],
    watches: deletionWatches(kind),
    async reconcile(key, context) {
      const cached = currentObject(context, type, key) as Resource | undefined;
      if (cached === undefined) return;
      if (cached.metadata.deletionTimestamp === undefined) {
        const object = (await setFinalizer(context, type, cached, finalizer, true)) as Resource | undefined;
        if (object !== undefined) await report(config, object, [], context);
        return;
      }
      if (cached.metadata.finalizers?.includes(finalizer) !== true) return;
      const referrers = referrersOf(kind, key, context.caches);
      if (referrers.length === 0) return void (await setFinalizer(context, type, cached, finalizer, false));
      await report(config, cached, referrers, context);
      return { againAfterMs: FALLBACK_MS } satisfies Outcome;
    },
  };
}

/** Referrers of configurations that are being deleted: the last one that goes releases them. */
function deletionWatches(kind: string): readonly Watched[] {
  const type = typeNamed(kind);
  return Object.keys(REFERENCE_FIELDS)
    .filter((referring) => REFERENCE_FIELDS[referring]?.some((field) => field.kind === kind))
    .map((referring) => ({
      type: typeNamed(referring),
      keysOf: (object, caches): readonly ObjectKey[] =>
        referencesOf(referring, object).filter(
          (each) => each.kind === kind && caches.of(type).get(each)?.metadata.deletionTimestamp !== undefined,
        ),
    }));
}

/** Why gateways cannot use a configuration of any size; `undefined` when they can. */
export async function checkConfig({ check }: ConfigKind, object: Resource): Promise<ConfigProblem | undefined> {
  const tooLarge = oversize(object.spec);
  return tooLarge === undefined ? check(object) : { reason: 'ValidationFailed', message: tooLarge };
}

async function report(
  config: ConfigKind,
  object: Resource,
  referrers: readonly Referrer[],
  context: ReconcileContext,
): Promise<void> {
  const { kind, more } = config;
  const tooLarge = oversize(object.spec);
  const problem = await checkConfig(config, object);
  const blocked = referrers.length === 0 ? [] : [blockedBy(kind, referrers)];
  const others = problem === undefined ? await more?.(object) : undefined;
  const wanted = [validity(problem), ...(others ?? []), ...blocked];
  emitTransitions(object, wanted, context);
  const { generation } = object.metadata;
  await writeStatus(context, typeNamed(kind), object, {
    observedGeneration: generation,
    ...(tooLarge === undefined ? { configHash: contentHash(object.spec) } : {}),
    conditions: timedConditions(object, wanted, context.now()),
  });
}

function validity(problem: ConfigProblem | undefined): WantedCondition {
  if (problem === undefined) {
    return { type: 'Valid', status: 'True', reason: 'ValidationSucceeded', message: 'the configuration is valid' };
  }
  return { type: 'Valid', status: 'False', ...problem };
}

function blockedBy(kind: string, referrers: readonly Referrer[]): WantedCondition {
  const names = referrers.slice(0, SHOWN_REFERRERS).map((each) => `${each.kind}/${keyOf(each.object).name}`);
  const others = referrers.length - names.length;
  const list = `${names.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
  const message = `this ${kind} is kept until nothing refers to it: ${list}`;
  return { type: 'DeletionBlocked', status: 'True', reason: 'ReferencedByWorkloads', message };
}

/** Events before the status is written: after a crash in between they are sent again, and the same transition counts once. */
function emitTransitions(object: Resource, wanted: readonly WantedCondition[], { events }: ReconcileContext): void {
  const { generation = 0, deletionTimestamp = '' } = object.metadata;
  for (const { type, status, message } of wanted) {
    const before = conditionOf(object, type)?.status;
    if (before === status) continue;
    const transition = `generation ${generation}`;
    if (type === 'Valid' && status === 'False') {
      events.emit(object, { type: 'Warning', reason: 'ConfigInvalid', message, action: 'Validate', transition });
    }
    if (type === 'Valid' && before === 'False') {
      events.emit(object, { type: 'Normal', reason: 'ConfigValid', message, action: 'Validate', transition });
    }
    if (type === 'DeletionBlocked') {
      const event = { type: 'Warning', reason: 'DeletionBlocked', message, action: 'Delete' } as const;
      events.emit(object, { ...event, transition: deletionTimestamp });
    }
  }
}
