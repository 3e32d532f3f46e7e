import { describe, expect, it } from 'vitest';
import { architectureFaults } from './support/architecture.ts';
import { proves } from './support/proves.ts';
import { repositoryTextFaults } from './support/repository-text.ts';
import { readTree } from './support/tree.ts';

describe('the source tree', () => {
  proves('ask.core.floors', 'keeps layers, packages and names, and has no circles', () => {
    expect(architectureFaults(readTree())).toEqual([]);
  });

  it('contains no paths of the build environment', () => {
    expect(repositoryTextFaults(readTree())).toEqual([]);
  });
});

const faults = (files: Record<string, string>) => architectureFaults(new Map(Object.entries(files)));

describe('the architecture check accepts', () => {
  it('a small tree that keeps every rule', () => {
    expect(
      faults({
        'core/errors.ts': 'export class GatewayFault extends Error {}',
        'core/contract/call.ts': `import type { GatewayFault } from '../errors.ts';\nexport interface Call { f: GatewayFault }`,
        'core/contract/brand.ts': `declare const brand: unique symbol;\nexport type Id = string & { [brand]: true };`,
        'core/extension/hooks.ts': `import { SyncHook } from 'tapable';\nimport type { Call } from '../contract/call.ts';`,
        'core/server/era-2025-11-25/sessions/sessions.ts': `import { hooks } from '../../../extension/hooks.ts';`,
        'core/server/era-2025-11-25/codec.ts': `import { sessions } from './sessions/sessions.ts';`,
        'plugins/kit/pool.ts': `import { Pool } from 'undici';`,
        'core/pipeline/perform.ts': `import type { Call } from '../contract/call.ts';`,
        'core/gateway/assemble.ts': `import { perform } from '../pipeline/perform.ts';`,
        'core/index.ts': `export { assemble } from './gateway/assemble.ts';\nexport type * from './contract/call.ts';`,
        'core/testing/index.ts': `import { assemble } from '../index.ts';`,
        'plugins/kit/settings/index.ts': `import { z } from 'zod';`,
        'plugins/audit/index.ts': `import { STAGE } from '@toolmgr/core';\nimport { goDuration } from '@toolmgr/plugins/kit/settings';\nimport { row } from './row.ts';\nexport default { address: 'audit' };`,
        'plugins/audit/row.ts': 'export const row = 1;',
        'plugins/kit/redis/a.ts': `import Redis from 'ioredis';`,
        'plugins/stores/redis/index.ts': `export default { address: 'stores/redis' };`,
        'plugins/index.ts': `export const catalogue = { audit: () => import('./audit/index.ts'), 'stores/redis': () => import('./stores/redis/index.ts') };`,
        'hosts/http/listen.ts': `import fastify from 'fastify';`,
        'hosts/manager/main.ts': `import { catalogue } from '@toolmgr/plugins';\nimport { listen } from '../http/listen.ts';`,
        'examples/fastify/story.ts': `import fastify from 'fastify';`,
        'test/audit.test.ts': `import audit from '../plugins/audit/index.ts';`,
      }),
    ).toEqual([]);
  });

  it('an entry that gathers plugins', () => {
    expect(
      faults({
        'plugins/secrets/exports.ts': `export { open } from './keyring/keyring-store.ts';`,
        'plugins/secrets/keyring/index.ts': `export default { address: 'secrets/keyring' };`,
        'plugins/secrets/keyring/keyring-store.ts': 'export const open = 1;',
      }),
    ).toEqual([]);
  });

  it('the word import outside of import statements', () => {
    expect(
      faults({
        'core/pipeline/a.ts': [
          `// import x from '../index.ts'`,
          `const text = "import x from '../index.ts'";`,
          ['const page = `import x from "../index.ts" $', '{`export * from "../index.ts"`}`;'].join(''),
          `const pattern = /import x from '..\\/index.ts'/;`,
          'const here = import.meta.url;',
        ].join('\n'),
        'core/index.ts': `export { text } from './pipeline/a.ts';`,
      }),
    ).toEqual([]);
  });
});

describe('the architecture check refuses', () => {
  it('a file that imports a higher layer, in every form of import', () => {
    const index = { 'core/index.ts': 'export const x = 1;' };
    const sentence = ['core/pipeline/a.ts reaches up to core/index.ts'];
    for (const statement of [
      `import { x } from '../index.ts';`,
      `import type { x } from '../index.ts';`,
      `import '../index.ts';`,
      `export * from '../index.ts';`,
      `export { x } from '../index.ts';`,
      `export type { x } from '../index.ts';`,
      `const late = await import('../index.ts');`,
      `type X = import('../index.ts').X;`,
      `import { x } from '../index.js';`,
      `import { x } from '@toolmgr/core';`,
    ]) {
      expect(faults({ 'core/pipeline/a.ts': statement, ...index }), statement).toEqual(sentence);
    }
  });

  it('an import from each layer to each higher one', () => {
    const layers = [
      'errors',
      'limits',
      'json/a',
      'timing/a',
      'extension/a',
      'mcp/a',
      'http1/a',
      'backend/a',
      'catalog/a',
      'pipeline/a',
    ].concat(['server/a', 'gateway/a', 'index', 'testing/a']);
    for (const [rank, low] of layers.entries()) {
      for (const high of layers.slice(rank + 1)) {
        const up = `import type { X } from '${low.includes('/') ? '..' : '.'}/${high}.ts';`;
        expect(faults({ [`core/${low}.ts`]: up, [`core/${high}.ts`]: 'export {};' })).toContain(
          `core/${low}.ts reaches up to core/${high}.ts`,
        );
      }
    }
  });

  it('an import of plugins or hosts in the core, and of hosts in plugins', () => {
    expect(faults({ 'core/pipeline/a.ts': `import { catalogue } from '@toolmgr/plugins';` })).toEqual([
      'core/pipeline/a.ts reaches up to plugins/index.ts',
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { main } from '../../hosts/cli/vmcp/main.ts';` })).toEqual([
      'plugins/audit/a.ts reaches up to hosts/cli/vmcp/main.ts',
    ]);
  });

  it('core and plugins that read the environment of the process', () => {
    const read = 'export const home = process.env.HOME;';
    expect(faults({ 'core/pipeline/a.ts': read, 'plugins/audit/a.ts': read, 'hosts/run/a.ts': read })).toEqual([
      'core/pipeline/a.ts reads process.env: a host gives the environment',
      'plugins/audit/a.ts reads process.env: a host gives the environment',
    ]);
  });

  it('a file of the core outside its folders', () => {
    expect(faults({ 'core/extras/a.ts': '' })).toEqual(['core/extras/a.ts is on no layer']);
  });

  it('a plugin that imports another plugin', () => {
    expect(
      faults({
        'plugins/audit/index.ts': `import { limit } from '../rate-limit/index.ts';`,
        'plugins/rate-limit/index.ts': 'export const limit = 1;',
      }),
    ).toEqual(['plugins/audit/index.ts reaches into plugins/rate-limit/index.ts']);
    const memory = { 'plugins/stores/memory/index.ts': '', 'plugins/stores/memory/a.ts': '' };
    expect(faults({ 'plugins/stores/redis/a.ts': `import { a } from '../memory/a.ts';`, ...memory })).toEqual([
      'plugins/stores/redis/a.ts reaches into plugins/stores/memory/a.ts',
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { catalogue } from '@toolmgr/plugins';` })).toEqual([
      'plugins/audit/a.ts reaches into plugins/index.ts',
    ]);
    expect(
      faults({
        'plugins/optimizer/tools/a.ts': `import { s } from '../embedding/vectors.ts';`,
        'plugins/optimizer/tools/index.ts': '',
        'plugins/optimizer/embedding/vectors.ts': 'export const s = 1;',
      }),
    ).toEqual(['plugins/optimizer/tools/a.ts reaches into plugins/optimizer/embedding/vectors.ts']);
    expect(faults({ 'plugins/kit/a.ts': `import { a } from '../audit/a.ts';` })).toEqual([
      'plugins/kit/a.ts reaches up to plugins/audit/a.ts',
    ]);
  });

  it('a plugin that imports internals of the kit, or its entry by path', () => {
    const kit = { 'plugins/kit/settings/index.ts': '', 'plugins/kit/settings/go-duration.ts': 'export const a = 1;' };
    expect(faults({ 'plugins/audit/a.ts': `import { a } from '../kit/settings/go-duration.ts';`, ...kit })).toEqual([
      'plugins/audit/a.ts reaches into plugins/kit/settings/go-duration.ts',
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { a } from '../kit/settings/index.ts';`, ...kit })).toEqual([
      'plugins/audit/a.ts reaches into plugins/kit/settings/index.ts',
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { a } from '@toolmgr/plugins/kit/settings/go-duration';` })).toEqual([
      'plugins/audit/a.ts reaches into plugins/kit/settings/go-duration',
    ]);
  });

  it('a plugin or host that imports internals of another workspace', () => {
    expect(faults({ 'plugins/audit/a.ts': `import { a } from '../../core/pipeline/a.ts';` })).toEqual([
      'plugins/audit/a.ts reaches into core/pipeline/a.ts',
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { a } from '@toolmgr/core/testing';` })).toEqual([
      'plugins/audit/a.ts reaches into core/testing/index.ts',
    ]);
    expect(faults({ 'hosts/vmcp/plan.ts': `import audit from '../../plugins/audit/index.ts';` })).toEqual([
      'hosts/vmcp/plan.ts reaches into plugins/audit/index.ts',
    ]);
    expect(faults({ 'hosts/vmcp/plan.ts': `import audit from '@toolmgr/plugins/audit';` })).toEqual([
      'hosts/vmcp/plan.ts reaches into plugins/audit',
    ]);
  });

  it('a circle, type-only imports included', () => {
    expect(
      faults({
        'core/pipeline/a.ts': `import { b } from '../extension/b.ts';`,
        'core/extension/b.ts': `import type { A } from '../pipeline/a.ts';`,
      }),
    ).toEqual([
      'core/extension/b.ts reaches up to core/pipeline/a.ts',
      'circle: core/pipeline/a.ts -> core/extension/b.ts -> core/pipeline/a.ts',
    ]);
    expect(
      faults({
        'hosts/vmcp/a.ts': `import { b } from './b.ts';`,
        'hosts/vmcp/b.ts': `import { c } from './c.ts';`,
        'hosts/vmcp/c.ts': `import { a } from './a.ts';`,
      }),
    ).toEqual(['circle: hosts/vmcp/a.ts -> hosts/vmcp/b.ts -> hosts/vmcp/c.ts -> hosts/vmcp/a.ts']);
    expect(faults({ 'hosts/vmcp/a.ts': `import { a } from './a.ts';` })).toEqual([
      'circle: hosts/vmcp/a.ts -> hosts/vmcp/a.ts',
    ]);
  });

  it('a runtime statement in the contract', () => {
    for (const [statement, word] of [
      ['export const x = 1;', 'const'],
      ['export function f(): void {}', 'function'],
      ['export abstract class C {}', 'class'],
      [`import { z } from 'zod';`, 'import'],
      [`import 'node:fs';`, 'import'],
      [`export { x } from './y.ts';`, 'export'],
      [`export * from './y.ts';`, 'export'],
    ] as const) {
      expect(faults({ 'core/contract/x.ts': statement }), statement).toEqual([
        `core/contract/x.ts has a runtime statement, '${word}'; core/contract holds types only`,
      ]);
    }
  });

  it('a heavy package outside its folder', () => {
    expect(faults({ 'plugins/rate-limit/a.ts': `import Redis from 'ioredis';` })).toEqual([
      `'ioredis' belongs in plugins/kit/redis, not in plugins/rate-limit/a.ts`,
    ]);
    expect(faults({ 'core/pipeline/a.ts': `import { SyncHook } from 'tapable';` })).toEqual([
      `'tapable' belongs in core/extension, not in core/pipeline/a.ts`,
    ]);
    expect(faults({ 'hosts/vmcp/a.ts': `const cors = await import('@fastify/cors');` })).toEqual([
      `'@fastify/cors' belongs in hosts/http, hosts/manager/http, not in hosts/vmcp/a.ts`,
    ]);
    expect(faults({ 'plugins/audit/a.ts': `import { parse } from 'yaml/dist';` })).toEqual([
      `'yaml' belongs in hosts, plugins/clients, plugins/skills, not in plugins/audit/a.ts`,
    ]);
    expect(faults({ 'core/pipeline/a.ts': `import { Client } from '@modelcontextprotocol/client';` })).toEqual([
      `core/pipeline/a.ts runs '@modelcontextprotocol/client'; the core takes types only from it`,
    ]);
    expect(faults({ 'core/pipeline/a.ts': `import type { Tool } from '@modelcontextprotocol/core';` })).toEqual([]);
  });

  it('names that say nothing or are not kebab-case', () => {
    expect(faults({ 'core/pipeline/utils.ts': '' })).toEqual([
      `core/pipeline/utils.ts uses the name 'utils', which says nothing`,
    ]);
    expect(faults({ 'plugins/helpers/index.ts': '' })).toEqual([
      `plugins/helpers/index.ts uses the name 'helpers', which says nothing`,
    ]);
    expect(faults({ 'hosts/vmcp/manager.ts': '' })).toEqual([
      `hosts/vmcp/manager.ts uses the name 'manager', which says nothing`,
    ]);
    expect(faults({ 'core/pipeline/toolCall.ts': '' })).toEqual([
      `core/pipeline/toolCall.ts has the part 'toolCall.ts', which is not kebab-case`,
    ]);
  });

  it('a default export that is not that of a plugin', () => {
    const sentence = [`core/pipeline/a.ts has a default export; only a plugin's index.ts has one`];
    expect(faults({ 'core/pipeline/a.ts': 'export default 1;' })).toEqual(sentence);
    expect(faults({ 'core/pipeline/a.ts': 'const a = 1; export { a as default };' })).toEqual(sentence);
    expect(faults({ 'core/pipeline/a.ts': `import { default as x } from 'zod';` })).toEqual([]);
    expect(faults({ 'plugins/index.ts': 'export default {};' })).toEqual([
      `plugins/index.ts has a default export; only a plugin's index.ts has one`,
    ]);
  });

  it('a catalogue that differs from the folders and addresses', () => {
    expect(
      faults({
        'plugins/index.ts': `const c = { audit: () => import('./rate-limit/index.ts'), health: () => import('./health/index.ts'), gone: () => import('./gone/index.ts') };`,
        'plugins/rate-limit/index.ts': `export default { address: 'rate-limit' };`,
        'plugins/health/index.ts': `export default { address: 'healthy' };`,
      }),
    ).toEqual([
      `'audit' leads to plugins/rate-limit/index.ts`,
      `plugins/health/index.ts does not give 'health' as its address`,
      `'gone' is in the catalogue, but plugins/gone/index.ts is not there`,
      'plugins/rate-limit is not in the catalogue',
    ]);
  });

  it('a contract.ts that the catalogue does not list, that is of another plugin, or that loads the plugin', () => {
    const entry = (contract: string) =>
      `const c = { audit: { load: () => import('./audit/index.ts'), contract: () => import('${contract}') } };`;
    const plugin = {
      'plugins/audit/index.ts': `import { contract } from './contract.ts';\nexport default { address: 'audit' };`,
      'plugins/audit/config.ts': 'export const config = 1;',
      'plugins/audit/contract.ts': `import { nearest } from '@toolmgr/core';\nimport type { C } from './config.ts';\nconst later = () => import('./later.ts');`,
      'plugins/audit/later.ts': 'export const later = 1;',
    };
    expect(faults({ ...plugin, 'plugins/index.ts': entry('./audit/contract.ts') })).toEqual([]);
    expect(faults({ ...plugin, 'plugins/index.ts': entry('./audit/config.ts') })).toEqual([
      `'audit' is read by plugins/audit/config.ts`,
    ]);
    const alone = `const c = { audit: () => import('./audit/index.ts') };`;
    expect(faults({ ...plugin, 'plugins/index.ts': alone })).toEqual([`'audit' does not list its contract.ts`]);
    const ofFlags = { 'plugins/audit/from-flags.ts': `import { config } from './config.ts';` };
    expect(faults({ ...plugin, ...ofFlags, 'plugins/index.ts': entry('./audit/contract.ts') })).toEqual([
      `'audit' does not list its from-flags.ts`,
      `plugins/audit/from-flags.ts loads './config.ts' with every file that is read`,
    ]);
    const loading = { 'plugins/audit/contract.ts': `import { config } from './config.ts';\nimport 'ioredis';` };
    expect(faults({ ...plugin, ...loading, 'plugins/index.ts': entry('./audit/contract.ts') })).toEqual([
      `'ioredis' belongs in plugins/kit/redis, not in plugins/audit/contract.ts`,
      `plugins/audit/contract.ts loads './config.ts' with every file that is read`,
      `plugins/audit/contract.ts loads 'ioredis' with every file that is read`,
    ]);
  });
});

describe('the text check', () => {
  const textFaults = (text: string) => repositoryTextFaults(new Map([['docs/a.md', text]]));
  const [workplace, bookshelf, neighbour] = ['/wor'.concat('k/'), '.lib'.concat('rary'), '../sha'.concat('red')];

  it('finds paths of the build environment', () => {
    expect(textFaults(`fine\nsee ${workplace}x`)).toEqual([`docs/a.md:2 says '${workplace}'`]);
    expect(textFaults(`see ${bookshelf}/x`)).toEqual([`docs/a.md:1 says '${bookshelf}'`]);
    expect(textFaults(`see ${neighbour}/x`)).toEqual([`docs/a.md:1 says '${neighbour}'`]);
  });

  it('ignores paths, properties and imports that only look similar', () => {
    for (const text of [`home${workplace}x`, `book${bookshelf}`, `import { d } from '${neighbour}/duration.ts';`]) {
      expect(textFaults(text), text).toEqual([]);
    }
  });
});
