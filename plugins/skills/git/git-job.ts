import type { ProblemCode } from '@toolmgr/plugins/kit/operations';

/** What the thread reads. */
export interface GitJob {
  /** `https://host/owner/repo`. */
  readonly url: string;
  readonly ref?: string;
  readonly path?: string;
  readonly allowPrivateAddresses: boolean;
  /** Value of the header `authorization`, sent after a 401 and to this origin only. */
  readonly authorization?: string;
}

/** A file as it crosses between threads. */
export interface SentFile {
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

/** What the thread answers: files with the commit, or a refusal. */
export type GitOutcome =
  | { readonly commit: string; readonly files: readonly SentFile[] }
  | { readonly problem: ProblemCode; readonly detail: string };
