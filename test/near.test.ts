import { describe, expect, it } from 'vitest';
import { nearTests, withinSeconds } from './support/near-tests.ts';

const tree = new Map([
  ['core/index.ts', `export { call } from './server/call.ts';`],
  ['core/server/call.ts', `import type { Id } from './id.ts';`],
  ['core/server/id.ts', 'export type Id = string;'],
  ['hosts/cli/main.ts', `import { call } from '@toolmgr/core';`],
  ['test/core/server/other.test.ts', ''],
  ['test/core/server/call.test.ts', `import { call } from '../../../core/server/call.ts';`],
  ['test/support/cli.ts', `const MAIN = 'hosts/cli/main.ts';`],
  ['test/hosts/cli.test.ts', `import { cli } from '../support/cli.ts';`],
  ['test/plugins/far.test.ts', `import { x } from '../../plugins/x.ts';`],
]);

describe('the tests near a change', () => {
  it('are those that import it, those of the folder beside it, and those that start a program with it', () => {
    expect(nearTests(tree, ['core/server/call.ts'])).toEqual([
      { file: 'test/core/server/call.test.ts', steps: 1 },
      { file: 'test/core/server/other.test.ts', steps: 1 },
      { file: 'test/hosts/cli.test.ts', steps: 4 },
    ]);
  });

  it('are found through types, and a changed test is the nearest', () => {
    const near = nearTests(tree, ['core/server/id.ts', 'test/plugins/far.test.ts']);
    expect(near[0]).toEqual({ file: 'test/plugins/far.test.ts', steps: 0 });
    expect(near).toContainEqual({ file: 'test/hosts/cli.test.ts', steps: 5 });
  });

  it('do not have deleted ones', () => {
    expect(nearTests(tree, ['test/deleted.test.ts'])).toEqual([]);
  });

  it('run while the recorded seconds fit, and changed tests always', () => {
    const tests = [
      { file: 'changed', steps: 0 },
      { file: 'long', steps: 1 },
      { file: 'short', steps: 2 },
    ];
    const seconds = new Map([
      ['changed', 90],
      ['long', 60],
      ['short', 9],
    ]);
    expect(withinSeconds(tests, seconds, 100)).toEqual({ taken: ['changed', 'short'], left: ['long'] });
  });
});
