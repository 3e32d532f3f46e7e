import { join } from 'node:path';
import { runTool } from '../rigs/run-tool.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What a release is made of. */
export interface SourceState {
  /** 40 hexadecimal digits. */
  readonly commit: string;
  /** Why this state must not be published; empty when it may. */
  readonly faults: readonly string[];
}

/** Reads the commit, and checks that the tree is clean, that the version is new and that no changeset waits. */
export async function sourceState(version: string, changesets: readonly string[], root = ROOT): Promise<SourceState> {
  const git = (...args: readonly string[]): Promise<string> => runTool('git', args, { cwd: root });
  const commit = (await git('rev-parse', 'HEAD')).trim();
  const changed = (await git('status', '--porcelain')).split('\n').filter((line) => line !== '');
  const tag = `v${version}`;
  const tagged = (await git('tag', '--list', tag)).trim();
  const isOfCommit = tagged !== '' && (await git('rev-parse', `${tag}^{commit}`)).trim() === commit;
  return {
    commit,
    faults: [
      ...(changed.length > 0
        ? [`${changed.length} changed files are not committed, first ${changed[0]?.slice(3)}`]
        : []),
      ...(tagged !== '' && !isOfCommit
        ? [`the tag ${tag} is at another commit: npm run versions makes a new version`]
        : []),
      ...(changesets.length > 0 ? [`${changesets.length} changesets are not in a version: npm run versions`] : []),
    ],
  };
}
