/** Metadata of an object. Source: Kubernetes API `meta/v1` ObjectMeta. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** The owner of an object, which the garbage collector deletes with it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object of the API. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object of a kind with `spec` and `status`. */
export interface Resource<Spec = unknown, Status = unknown> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

/** A type of objects: where the API serves it. `T` is the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** Group and version such as `apps/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Objects are outside namespaces. */
  readonly isClusterScoped?: true;
  /** Only for the type parameter; never set. */
  readonly _object?: T;
}

/** Which object of a type. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A condition of `status.conditions`. Source: `meta/v1` Condition; vmcp spec §2 `conditions[]`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** `namespace/name`, the key of caches and queues. */
export function keyText({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

/** The key of an object. */
export function keyOf({ metadata: { namespace = '', name } }: KubeObject): ObjectKey {
  return { namespace, name };
}
