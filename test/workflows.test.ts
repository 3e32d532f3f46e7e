import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { rig } from './support/rig.ts';
import { temporaryFolderOfFile } from './support/temporary-folder.ts';
import { workflowFaults } from './support/workflow-faults.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, '.github', 'workflows');
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name));
const scripts = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

const found = rig('actionlint');
const reason = 'missing' in found ? ` (skipped: ${found.missing})` : '';

describe.skipIf('missing' in found)(`actionlint${reason}`, () => {
  const folder = temporaryFolderOfFile('workflows');

  /** What actionlint prints. Its helpers are switched off: the result is the same on every machine. */
  function actionlint(files: readonly string[]): string {
    const program = 'folder' in found ? join(found.folder, 'actionlint') : '';
    const args = ['-no-color', '-oneline', '-shellcheck=', '-pyflakes=', ...files];
    const { stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    if (error !== undefined) throw error;
    return stdout + stderr;
  }

  it('finds no fault in the workflows', () => {
    expect(actionlint(FILES)).toBe('');
  });

  it('finds an unknown expression', () => {
    const file = join(folder, 'broken.yml');
    const step = `- run: echo ${'$'}{{ matrix.none }}`;
    writeFileSync(file, `on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      ${step}\n`);
    expect(actionlint([file])).toContain('"none" is not defined');
  });
});

describe('the workflows', () => {
  it('have few rights, limits of time, pinned actions and scripts that exist', () => {
    const texts = new Map(FILES.map((file) => [file.slice(ROOT.length + 1), readFileSync(file, 'utf8')]));
    expect(workflowFaults(texts, scripts)).toEqual([]);
  });

  it('are refused when one of these is missing', () => {
    const text = `
on: push
jobs:
  a:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v6
      - run: npm run none`;
    expect(workflowFaults(new Map([['a.yml', text]]), ['docs'])).toEqual([
      'a.yml has no permissions',
      'a.yml has no concurrency',
      'a.yml: the job a has no timeout-minutes',
      'a.yml: actions/checkout@v6 is not a commit with its version as a comment',
      'a.yml: npm run none is not a script',
    ]);
  });
});

describe('dependabot.yml', () => {
  const MANIFESTS = {
    npm: 'package.json',
    gomod: 'go.mod',
    pip: 'requirements.txt',
    cargo: 'Cargo.toml',
    docker: 'Containerfile',
    'github-actions': '.github/workflows',
  } as const;
  interface Update {
    readonly 'package-ecosystem': keyof typeof MANIFESTS;
    readonly directory?: string;
    readonly directories?: readonly string[];
  }
  const { updates } = parse(readFileSync(join(ROOT, '.github', 'dependabot.yml'), 'utf8')) as { updates: Update[] };
  const watched = updates.flatMap(({ 'package-ecosystem': kind, directory, directories = [] }) =>
    [...(directory === undefined ? [] : [directory]), ...directories].map((at) => join(at, MANIFESTS[kind])),
  );

  it('names folders that have what it looks for', () => {
    expect(watched.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names every rig that pins packages', () => {
    const names = new Set<string>([MANIFESTS.npm, MANIFESTS.gomod, MANIFESTS.pip, MANIFESTS.cargo]);
    const rigs = readdirSync(join(ROOT, 'test', 'rigs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => names.has(path.slice(path.lastIndexOf('/') + 1)))
      .map((path) => `/test/rigs/${path}`);
    expect(rigs.filter((path) => !watched.includes(path))).toEqual([]);
  });
});
