import type { RequirementId } from '../requirements.ts';

/**
 * One deliberate fault: the proofs of `id` must fail while `from` is replaced by `to`.
 *
 * Shape: `file` is a path from the project's root; `from` occurs in it exactly once; `to` compiles.
 */
export interface Mutation {
  readonly id: RequirementId;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}
