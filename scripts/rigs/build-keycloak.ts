import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runTool } from './run-tool.ts';

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/**
 * Downloads the distribution of `artifact.txt` from Maven Central and prepares it as `server`, with a database in memory.
 * @throws Error when its SHA-256 is another one
 */
export async function buildKeycloak(from: string, into: string): Promise<void> {
  const [artifact = '', digest = ''] = readFileSync(join(from, 'artifact.txt'), 'utf8').trim().split('\n');
  const scratch = join(into, 'download');
  mkdirSync(scratch);
  const quiet = ['--quiet', '--batch-mode', '--no-transfer-progress', `-Dmaven.repo.local=${join(scratch, 'maven')}`];
  await runTool('mvn', [...quiet, COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${join(scratch, 'out')}`]);
  const [archive = ''] = readdirSync(join(scratch, 'out'));
  const file = join(scratch, 'out', archive);
  const found = `sha256 ${await sha256(file)}`;
  if (found !== digest) throw new Error(`${archive}: expected ${digest}, found ${found}`);
  await runTool('python3', ['-m', 'zipfile', '-e', file, scratch]);
  renameSync(join(scratch, archive.replace(/\.zip$/, '').replace('-quarkus-dist', '')), join(into, 'server'));
  rmSync(scratch, { recursive: true });
  const options = ['--db=dev-mem', '--health-enabled=true', '--cache=local'];
  await runTool('sh', [join(into, 'server', 'bin', 'kc.sh'), 'build', ...options]);
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
