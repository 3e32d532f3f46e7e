import { expect, it } from 'vitest';
import { declaredPackageFaults } from './support/declared-packages.ts';
import { readTree } from './support/tree.ts';

it('every workspace lists the packages that it imports, and no others', () => {
  expect(declaredPackageFaults(readTree())).toEqual([]);
});

it('the check finds a missing, an unused, a required and a differing package', () => {
  const manifest = (lists: object) => JSON.stringify(lists);
  const files = new Map([
    ['core/package.json', manifest({ dependencies: { tapable: '^2.0.0' } })],
    ['core/a.ts', `import { z } from 'zod/v4';\nimport fs from 'node:fs';`],
    [
      'plugins/package.json',
      manifest({
        peerDependencies: { ioredis: '^6.0.0', jose: '^6.0.0' },
        peerDependenciesMeta: { ioredis: { optional: true } },
      }),
    ],
    ['plugins/a.ts', `const PACKAGE = 'ioredis';\nimport { jwtVerify } from 'jose';`],
    ['hosts/package.json', manifest({ dependencies: { ioredis: '^5.0.0', jose: '^6.0.0' } })],
  ]);
  expect(declaredPackageFaults(files)).toEqual([
    "core imports 'zod', which is not in its package.json",
    "core/package.json lists 'tapable', which nothing there imports",
    "plugins/package.json: the peer 'jose' is not optional",
    "hosts/package.json: 'ioredis' has another version than the plugins ask for",
  ]);
});
