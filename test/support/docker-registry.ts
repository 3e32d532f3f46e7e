import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { until } from './until.ts';

/** Debian's `docker-registry` in a folder of its own. It has no referrers API. */
export interface DockerRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT`, for references. */
  readonly host: string;
  /** The manifest of a tag, as it is stored. */
  manifest(
    repository: string,
    reference: string,
  ): Promise<{ readonly bytes: Buffer; readonly type: string; readonly digest: string }>;
  /** Stores a manifest under a tag or digest; returns its digest. */
  putManifest(repository: string, reference: string, bytes: Buffer, type: string): Promise<string>;
  /** Stores a blob; returns its digest. */
  putBlob(repository: string, bytes: Buffer): Promise<string>;
}

/** Why there is no registry here; `undefined` when there is one. Never a reason in CI. */
export function registryMissing(): string | undefined {
  if (process.env.CI) return undefined;
  return spawnSync('which', ['docker-registry']).status === 0
    ? undefined
    : 'no docker-registry (Debian: apt-get install docker-registry)';
}

const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Starts a registry on a free port of 127.0.0.1. */
export async function startDockerRegistry(): Promise<DockerRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-registry-'));
  const port = await getPort();
  const host = `127.0.0.1:${port}`;
  const settings = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: host },
  };
  await writeFile(join(folder, 'config.yml'), JSON.stringify(settings));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  child.once('error', () => undefined);
  process.once('exit', () => child.kill('SIGKILL'));
  const base = `http://${host}/v2`;
  await until(() =>
    fetch(`${base}/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    host,
    async manifest(repository, reference) {
      const answer = await checked(
        fetch(`${base}/${repository}/manifests/${reference}`, { headers: { accept: MANIFESTS } }),
      );
      const bytes = Buffer.from(await answer.arrayBuffer());
      return { bytes, type: answer.headers.get('content-type') ?? '', digest: digestOf(bytes) };
    },
    async putManifest(repository, reference, bytes, type) {
      const url = `${base}/${repository}/manifests/${reference}`;
      await checked(fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: new Uint8Array(bytes) }));
      return digestOf(bytes);
    },
    async putBlob(repository, bytes) {
      const begun = await checked(fetch(`${base}/${repository}/blobs/uploads/`, { method: 'POST' }));
      const url = new URL(begun.headers.get('location') ?? '', base);
      url.searchParams.set('digest', digestOf(bytes));
      await checked(fetch(url, { method: 'PUT', body: new Uint8Array(bytes) }));
      return digestOf(bytes);
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function checked(sent: Promise<Response>): Promise<Response> {
  const answer = await sent;
  if (!answer.ok) throw new Error(`the registry answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
