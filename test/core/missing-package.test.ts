import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { missingFeatures, missingPackage } from '@toolmgr/core';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = {
  name: 'own',
  peerDependencies: { 'own-redis': '^6.0.0', 'own-tar': '^3.2.2', 'own-engine': '^0.3.1', 'own-esm': '^1.0.0' },
  peerDependenciesMeta: {
    'own-redis': { optional: true, feature: 'state in Redis', without: 'provider: memory' },
    'own-tar': { optional: true, feature: 'containers' },
    'own-engine': { optional: true, feature: 'containers' },
    'own-esm': { optional: true, feature: 'scripts' },
  },
};

/** A project with the package `own`, one of its optional peers that has only ES modules, and one that has CommonJS. */
function project(): string {
  const folder = temporaryFolder('peers');
  const files = {
    'package.json': '{}',
    'node_modules/own/package.json': JSON.stringify(MANIFEST),
    'node_modules/own/redis.mjs': "import 'own-redis';",
    'node_modules/own-tar/package.json': '{"name":"own-tar","main":"index.js"}',
    'node_modules/own-tar/index.js': '',
    'node_modules/own-esm/package.json': '{"name":"own-esm","type":"module","exports":{".":{"import":"./index.js"}}}',
    'node_modules/own-esm/index.js': '',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

it('names the features that miss packages, with a command that installs all packages of the feature', () => {
  const folder = project();
  const found = missingFeatures(join(folder, 'node_modules/own/package.json'));
  expect(found).toEqual([
    {
      feature: 'state in Redis',
      missing: ['own-redis'],
      command: `npm install --prefix ${folder} own-redis@6`,
    },
    {
      feature: 'containers',
      missing: ['own-engine'],
      command: `npm install --prefix ${folder} own-tar@3 own-engine@0.3`,
    },
  ]);
});

it('explains the error of an import that failed, and no other error', async () => {
  const folder = project();
  const failed = await import(pathToFileURL(join(folder, 'node_modules/own/redis.mjs')).href).catch((cause) => cause);
  expect(missingPackage(failed)).toBe(
    `state in Redis: the optional package own-redis is not installed; install it: npm install --prefix ${folder} own-redis@6; or without it: provider: memory`,
  );
  expect(missingPackage(new Error('Cannot find package'))).toBeUndefined();
});
