import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');

/** Recorded seconds of the slow test files: one that begins last leaves the other cores idle. */
const { files } = JSON.parse(readFileSync(join(ROOT, 'docs/project/test-times.json'), 'utf8')) as {
  readonly files: readonly { readonly file: string; readonly wallSeconds: number }[];
};
const seconds = new Map(files.map(({ file, wallSeconds }) => [file, wallSeconds]));

/** Starts the slow test files first, the longest before the others, then the rest in the order of Vitest. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const of = ({ moduleId }: TestSpecification): number => seconds.get(relative(ROOT, moduleId)) ?? 0;
    return (await super.sort(files)).toSorted((a, b) => of(b) - of(a));
  }
}
