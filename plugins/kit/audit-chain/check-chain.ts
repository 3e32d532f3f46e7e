import { type KeyObject, verify } from 'node:crypto';
import { isObject, type JsonObject, parsedJson } from '@toolmgr/core';
import { digestFor, hashOfLine, isPlace, signedText } from './chain.ts';

/** A place where the lines are not what was written. */
export interface ChainProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

/** What was found in all lines. */
export interface ChainReport {
  readonly lines: number;
  /** Numbers of the first and the last line with a place in the chain. */
  readonly first?: number;
  readonly last?: number;
  readonly checkpoints: number;
  /** Lines at the end that no checkpoint with a verified signature covers. */
  readonly unsigned: number;
  readonly problems: readonly ChainProblem[];
  /** Problems that are not in the list, which is bounded. */
  readonly moreProblems: number;
}

/** Checks lines in the order in which they were written, over any number of files. */
export interface ChainChecks {
  add(file: string, line: number, text: Buffer): void;
  report(): ChainReport;
}

/** Creates the checks. `key`: the public key of checkpoints; without it signatures are not verified. */
export function createChainChecks(key: KeyObject | undefined): ChainChecks {
  const problems: ChainProblem[] = [];
  let count = 0;
  let lines = 0;
  let first: number | undefined;
  let last: number | undefined;
  let previous: string | undefined;
  let checkpoints = 0;
  let unsigned = 0;
  return {
    add(file, line, text) {
      lines += 1;
      unsigned += 1;
      const found = (problem: string): void => {
        count += 1;
        if (problems.length < MOST_PROBLEMS) problems.push({ file, line, problem });
      };
      const event = parsedJson(text.toString('utf8'));
      const chain = isObject(event) && isObject(event.chain) ? event.chain : undefined;
      const before = previous;
      previous = hashOfLine(text);
      if (!isObject(event) || chain === undefined || !isPlace(chain.n)) {
        // what stands before the first chained line is older than the chain
        if (first !== undefined) found(isObject(event) ? 'the line has no place in the chain' : INCOMPLETE);
        return;
      }
      const { n } = chain;
      for (const problem of placeProblems(n, last, chain, before)) found(problem);
      first ??= n;
      last = n;
      if (chain.signature === undefined) return;
      checkpoints += 1;
      if (key === undefined) return;
      if (isSigned(event, n, chain, key)) unsigned = 0;
      else found('the signature of the checkpoint does not fit the key');
    },
    report: () => ({
      lines,
      ...(first === undefined ? {} : { first }),
      ...(last === undefined ? {} : { last }),
      ...{ checkpoints, unsigned, problems, moreProblems: count - problems.length },
    }),
  };
}

const MOST_PROBLEMS = 100;
const INCOMPLETE = 'the line is no JSON: it was cut, perhaps when the gateway was killed while it wrote';

/** What is wrong between a line and the one before it. `before`: its hash; `undefined` for the first line of all. */
function placeProblems(
  n: number,
  last: number | undefined,
  { previous }: JsonObject,
  before: string | undefined,
): readonly string[] {
  const isFirst = last === undefined;
  if (!isFirst && n > last + 1) return [`${n - last - 1} lines before it are missing (${last + 1} to ${n - 1})`];
  if (!isFirst && n <= last) return [n === 0 ? ANEW : `line ${n} of the chain stands after line ${last}`];
  // the first line may continue a file that is not given
  if (before === undefined || before === previous) return [];
  return [isFirst && n > 0 ? 'the lines before it are not those of the chain' : 'the line before it was changed'];
}

const ANEW = 'the chain begins again: lines before it may be missing';

function isSigned(event: JsonObject, n: number, { previous, signature }: JsonObject, key: KeyObject): boolean {
  const { component } = event;
  if (typeof component !== 'string' || typeof previous !== 'string' || typeof signature !== 'string') return false;
  return verify(digestFor(key), signedText(component, n, previous), key, Buffer.from(signature, 'base64url'));
}
