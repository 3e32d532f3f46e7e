import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { missingRigs } from '../rigs/missing-rigs.ts';
import { rigFolder } from '../rigs/rig-folder.ts';
import type { SitePage } from './pages.ts';
import { writeProject } from './write-project.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUILD_MS = 300_000; // about 15 s on a quiet machine
const SHOWN = 4_000; // last characters of the output of a failed build

/** A built site. */
export interface BuiltSite {
  readonly folder: string;
  readonly pages: ReadonlyMap<string, SitePage>;
}

/**
 * Builds `docs/` into a folder, which is replaced.
 *
 * The generator is the rig `site`; it runs in a temporary folder, so that the repository needs none of its packages.
 * @throws Error when the rig is not installed, when a page has a link to a page that does not exist, or when a page cannot be built
 */
export async function buildSite(out: string, base = '/'): Promise<BuiltSite> {
  const rig = rigFolder('site');
  const missing = missingRigs('site');
  if (missing !== undefined) throw new Error(missing);
  const project = mkdtempSync(join(tmpdir(), 'toolmgr-site-'));
  try {
    const pages = writeProject(project, { root: ROOT, base, repository: repositoryAddress() });
    symlinkSync(join(rig, 'node_modules'), join(project, 'node_modules'), 'junction');
    await runGenerator(rig, project, resolve(out));
    return { folder: resolve(out), pages };
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The address of the repository without `git+` and `.git`. */
export function repositoryAddress(): string {
  const { repository } = JSON.parse(readFileSync(join(ROOT, 'hosts/package.json'), 'utf8')) as {
    repository?: { url: string };
  };
  return repository?.url.replace(/^git\+/, '').replace(/\.git$/, '') ?? 'https://github.com/toolmgr/toolmgr';
}

function runGenerator(rig: string, project: string, out: string): Promise<void> {
  const program = join(rig, 'node_modules/vitepress/bin/vitepress.js');
  const child = spawn(process.execPath, [program, 'build', project, '--outDir', out], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_MS,
    env: { ...process.env, NO_COLOR: '1', CI: '1' },
  });
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = `${said}${chunk}`.slice(-SHOWN);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`the site cannot be built:\n${said}`));
    });
  });
}
