import { it, type TestContext } from 'vitest';
import type { RequirementId } from '../requirements.ts';

/** Body of a proving test, with vitest's arguments. */
export type Proof = (context: TestContext) => unknown;

/** Declares a test that proves one or more requirements. */
export type Proves = (
  ids: RequirementId | readonly RequirementId[],
  sentence: string,
  proof: Proof,
  timeoutMs?: number,
) => void;

/**
 * Declares a test whose name ends with the ids it proves.
 *
 * Shape: `proves('choice.wire.parse-error', 'answers 400 to a torn body', async () => …)`; several ids as an array.
 * `proves.skipIf(condition, reason)` returns the same function, which skips the test and prints the reason if `condition` is true.
 */
export const proves: Proves & { skipIf(condition: unknown, reason: string): Proves } = Object.assign(declare, {
  skipIf: (condition: unknown, reason: string): Proves => (condition ? skipping(reason) : declare),
});

function declare(
  ids: RequirementId | readonly RequirementId[],
  sentence: string,
  proof: Proof,
  timeoutMs?: number,
): void {
  it(named(ids, sentence), proof, timeoutMs);
}

function skipping(reason: string): Proves {
  return (ids, sentence) => {
    console.warn(`skipped: ${sentence} (${reason})`);
    it.skip(`${named(ids, sentence)} (skipped: ${reason})`);
  };
}

function named(ids: RequirementId | readonly RequirementId[], sentence: string): string {
  return `${sentence} [${[ids].flat().join(', ')}]`;
}
