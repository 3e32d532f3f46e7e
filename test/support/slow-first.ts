import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ROOT = join(import.meta.dirname, '..', '..');

/** Recorded seconds of the test files that take a second or more, by path from the root. */
export function recordedSeconds(): ReadonlyMap<string, number> {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'docs/project/test-times.json'), 'utf8')) as {
    readonly files: readonly { readonly file: string; readonly wallSeconds: number }[];
  };
  return new Map(files.map(({ file, wallSeconds }) => [file, wallSeconds]));
}

/**
 * Starts the slow test files first: one that begins last leaves the other cores idle. Those that share a process come behind those that
 * have their own, because a process is kept while the next file shares it.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const recorded = recordedSeconds();
    const seconds = ({ moduleId }: TestSpecification): number => recorded.get(relative(ROOT, moduleId)) ?? 0;
    const shares = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => shares(a) - shares(b) || seconds(b) - seconds(a));
  }
}
