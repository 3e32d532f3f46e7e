import type { KubeObject, ObjectKey, ResourceType } from './object.ts';

/**
 * The Kubernetes API with the requests that controllers need. Objects are plain JSON: unknown keys are kept.
 *
 * Every request has a time limit. A request that the server did not process (429 with `Retry-After`, a refused connection) is sent
 * again, at most a bounded number of times; others are not, because the caller reconciles again.
 */
export interface Api {
  /** `undefined` when there is no such object. @throws ApiError */
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined>;
  /** In pages. No namespace means all. @throws ApiError */
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /** Server-side apply: owns exactly the given fields; creates the object when it is absent. @throws ApiError */
  apply<T extends KubeObject>(type: ResourceType<T>, object: Applied<T>, options: ApplyOptions): Promise<T>;
  /** @throws ApiError 409 with reason `AlreadyExists` when it exists */
  create<T extends KubeObject>(type: ResourceType<T>, object: Applied<T>): Promise<T>;
  /** JSON merge patch (RFC 7386). `resourceVersion` in the patch makes a stale one fail with 409. @throws ApiError */
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Readonly<Record<string, unknown>>,
    options?: { readonly subresource?: 'status'; readonly manager?: string },
  ): Promise<T>;
  /** Replaces the object; a stale `resourceVersion` fails with 409. @throws ApiError */
  replace<T extends KubeObject>(type: ResourceType<T>, object: T, subresource?: 'status'): Promise<T>;
  /** Absent objects are no error. `uid`: only this one. @throws ApiError */
  remove(type: ResourceType, key: ObjectKey, options?: { readonly uid?: string }): Promise<void>;
  /**
   * Events of one watch until the server ends it or `signal` aborts.
   * @throws ApiError 410 when the resource version is too old
   */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/** An object as a manager applies it: only its own fields. */
export type Applied<T extends KubeObject> = KubeObject & Partial<Omit<T, keyof KubeObject>>;

/** Which objects to read. */
export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only `metadata` is read (PartialObjectMetadata), e.g. of secrets. */
  readonly metadataOnly?: boolean;
  /** Drops parts of each object as it is read, so that a long list never holds them. */
  readonly slim?: (object: KubeObject) => KubeObject;
  readonly signal?: AbortSignal;
}

/** Objects with the resource version at which a watch begins. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Which objects are watched, and from which version on. */
export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
}

/** Who applies an object, and how. */
export interface ApplyOptions {
  /** Field manager: who owns the applied fields. */
  readonly manager: string;
  /** Takes fields over from other managers instead of failing with 409. */
  readonly force?: boolean;
  readonly subresource?: 'status';
}

/** One event of a watch. A `BOOKMARK` has only the resource version. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** The API refused a request, or could not be reached (`status` 0). */
export class ApiError extends Error {
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** `reason` of the Status object such as `Conflict`, `NotFound`, `Invalid`, `Expired`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }
}
