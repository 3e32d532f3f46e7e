import type { Api, KubeObject, ObjectKey, ResourceType } from '@toolmgr/plugins/kit/kubernetes';

/**
 * Reconciles the objects of one type. A reconcile reads the caches, compares, and writes what differs; it never waits for
 * something to happen, because the event of it queues the key again.
 */
export interface Controller<T extends KubeObject = KubeObject> {
  /** Name in logs and metrics. */
  readonly name: string;
  readonly type: ResourceType<T>;
  /** Other types whose changes concern objects of `type`. */
  readonly watches: readonly Watched[];
  /**
   * Brings one object to its wanted state. The object may be gone. Runs once at a time per key.
   * @throws anything: the key is queued again with back-off
   */
  reconcile(key: ObjectKey, context: ReconcileContext): Promise<Outcome | void>;
}

/** A type that a controller follows beside its own. */
export interface Watched<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  /** Keys of the controller's type that are concerned. Called for the new and for the old state of a changed object. */
  keysOf(object: T, caches: Caches): Iterable<ObjectKey>;
}

/** What a reconcile asks for beside what events do. */
export interface Outcome {
  /** Reconcile again after this time. */
  readonly againAfterMs?: number;
}

/** What a reconcile works with. */
export interface ReconcileContext {
  readonly api: Api;
  readonly caches: Caches;
  readonly events: EventRecorder;
  readonly log: ControllerLog;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The caches of all informers, one per type. */
export interface Caches {
  /** @throws Error when no informer follows the type */
  of<T extends KubeObject>(type: ResourceType<T>): Cache<T>;
}

/** The objects of one type as the API last described them. Read-only: objects are never changed in place. */
export interface Cache<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(namespace?: string): readonly T[];
  /** Objects whose index function gave this value. @throws Error for an unknown index */
  byIndex(index: string, value: string): readonly T[];
}

/** How the objects of one type are followed. */
export interface InformerSpec<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  /** Only `metadata` is kept, as for secrets and config maps. */
  readonly metadataOnly?: boolean;
  readonly labelSelector?: string;
  /** Values of an object by index name. */
  readonly indexes?: Readonly<Record<string, (object: T) => Iterable<string>>>;
  /** Drops parts that no controller reads, e.g. `managedFields` (always dropped). */
  readonly strip?: (object: T) => T;
}

/** Writes events (`events.k8s.io/v1`). */
export interface EventRecorder {
  /**
   * Reports one transition. The same `transition` of an object is reported once, also by another process after a crash.
   * A failure is logged and does not fail the reconcile.
   */
  emit(regarding: KubeObject, event: EventText): void;
}

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, such as `DeploymentCreated`. */
  readonly reason: string;
  readonly message: string;
  /** What was being done, e.g. `Reconcile`. */
  readonly action: string;
  /** What changed, e.g. the generation or a checksum: equal texts are one transition. */
  readonly transition: string;
}

export interface ControllerLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
