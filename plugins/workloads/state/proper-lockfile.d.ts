// The package has no types of its own; only what is used here.
declare module 'proper-lockfile' {
  export interface LockOptions {
    readonly lockfilePath: string;
    readonly realpath: false;
    /** Milliseconds without a sign of life after which a lock is nobody's. */
    readonly stale: number;
    readonly retries: {
      readonly retries: number;
      readonly factor: number;
      readonly minTimeout: number;
      readonly maxTimeout: number;
    };
    readonly onCompromised: (cause: Error) => void;
  }
  /** Resolves with the function that releases the lock. */
  export function lock(file: string, options: LockOptions): Promise<() => Promise<void>>;
}
