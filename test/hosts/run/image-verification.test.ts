import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import {
  type ContainerEngine,
  ENGINES,
  engineCall,
  engineMissing,
  SERVER_ENTRYPOINT,
  serverTar,
  startEngine,
} from '../../support/container-engine.ts';
import { type DockerRegistry, registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { type FakeSigstore, startSigstore, workflowClaims } from '../../support/fake-sigstore.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 180_000;
const REPOSITORY = 'org/server';
const PROVENANCE = {
  repository_uri: 'https://github.com/org/server',
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: 'https://token.actions.githubusercontent.com',
};

const session = toolmgrSession();

describe.each(ENGINES)('the verification of images on %s', (name) => {
  const missing = engineMissing(name) ?? registryMissing();
  let registry: DockerRegistry;
  let sigstore: FakeSigstore;
  let engine: ContainerEngine;
  const home = temporaryFolderOfFile('signed');

  beforeAll(async () => {
    if (missing !== undefined) return;
    registry = await startDockerRegistry();
    sigstore = await startSigstore();
    engine = await startEngine(name, { insecureRegistry: registry.host });
    await pushServer(registry);
    await settings();
  }, LONG);
  afterAll(async () => {
    if (missing !== undefined) return;
    if ((await readWorkloads(home)).length > 0) await toolmgr('rm', '--force', '--all'); // left by a test that failed
    await engine[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await sigstore[Symbol.asyncDispose]();
  }, LONG);

  const settings = async (): Promise<void> => {
    const entry = (tag: string) => ({
      image: `${registry.host}/${REPOSITORY}:${tag}`,
      transport: 'stdio',
      args: ['stdio'],
      provenance: PROVENANCE,
    });
    await writeFile(
      join(home, 'registry.json'),
      JSON.stringify({ servers: { signed: entry('1'), unsigned: entry('2') } }),
    );
    await writeFile(join(home, 'root.json'), JSON.stringify(sigstore.trustedRoot));
    await mkdir(join(home, 'toolmgr'));
    const lines = [
      `local_registry_path: ${join(home, 'registry.json')}`,
      `sigstore_trusted_root: ${join(home, 'root.json')}`,
    ];
    await writeFile(join(home, 'toolmgr/config.yaml'), lines.join('\n'));
  };
  const toolmgr = (...args: string[]) =>
    session(home, args, home, {
      DOCKER_HOST: `unix://${engine.socket}`,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      DOCKER_CONFIG: home,
    });
  const run = (target: string, ...args: string[]) => toolmgr('run', '--network', 'none', ...args, target);
  const runs = (ids: readonly RequirementId[], title: string, test: () => Promise<void>): void => {
    if (missing === undefined) proves([...ids], title, test, LONG);
    else it.skip(`${title} (${missing})`, test);
  };
  const imageOf = async (container: string): Promise<string> => {
    const { text } = await engineCall(engine.socket, 'GET', `/v1.41/containers/${container}/json`);
    return (JSON.parse(text) as { readonly Config: { readonly Image: string } }).Config.Image;
  };

  runs(
    ['run.option.image-verification', 'run.option.image-verification-default'],
    'runs exactly the digest that was verified, refuses an image that is not signed, and warns of it by default',
    async () => {
      const { bytes, type, digest } = await registry.manifest(REPOSITORY, '1');
      // the same image with other bytes, and so with another digest, which has no signature
      const changed = Buffer.from(JSON.stringify({ ...(JSON.parse(bytes.toString()) as object) }, undefined, 1));
      await registry.putManifest(REPOSITORY, '2', changed, type);
      await sign(registry, sigstore, digest);

      const good = await run('signed', '--image-verification', 'enabled');
      expect(good, good.err).toMatchObject({ code: 0, err: '' });
      expect(good.out).toContain('signed by https://github.com/org/server/.github/workflows/release.yml@refs/tags/v1');
      expect(await callEcho(good.out)).toMatchObject({ content: [{ text: 'Echo: hello' }] });
      expect(await imageOf('signed')).toBe(`${registry.host}/${REPOSITORY}@${digest}`);

      // the tag leads to another image now; the workload keeps the verified one
      await registry.putManifest(REPOSITORY, '1', changed, type);
      expect(await toolmgr('stop', 'signed')).toMatchObject({ code: 0 });
      const again = await toolmgr('start', 'signed');
      expect(again, again.err).toMatchObject({ code: 0 });
      expect(await callEcho(again.out)).toMatchObject({ content: [{ text: 'Echo: hello' }] });
      expect(await imageOf('signed')).toContain(digest);
      expect(await toolmgr('rm', '--force', 'signed')).toMatchObject({ code: 0 });

      const swapped = await run('signed', '--image-verification', 'enabled');
      expect(swapped).toMatchObject({ code: 1, err: expect.stringContaining('is not verified: it is not signed') });
      const refused = await run('unsigned', '--image-verification', 'enabled');
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not verified: it is not signed') });
      const warned = await run('unsigned');
      expect(warned, warned.err).toMatchObject({ code: 0, err: expect.stringContaining('warning the image') });
      expect(warned.out).toContain('not verified');
      expect(await toolmgr('rm', '--force', 'unsigned')).toMatchObject({ code: 0 });
      const silent = await run('unsigned', '--image-verification', 'disabled');
      expect(silent, silent.err).toMatchObject({ code: 0, err: '' });
      expect(silent.out).not.toContain('verified');
      expect(await toolmgr('rm', '--force', 'unsigned')).toMatchObject({ code: 0 });
      const plain = await run(`${registry.host}/${REPOSITORY}:2`, '--image-verification', 'enabled');
      expect(plain).toMatchObject({ code: 1, err: expect.stringContaining('no provenance information') });
      expect(await toolmgr('run', '--image-verification', 'always', 'signed')).toMatchObject({ code: 1 });
    },
  );
});

/** Stores the image of the Everything server under the tag 1, as an engine would push it but for the time to compress it. */
async function pushServer(registry: DockerRegistry): Promise<void> {
  const layerBytes = await readFile(await serverTar());
  const layer = await registry.putBlob(REPOSITORY, layerBytes);
  const about = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: SERVER_ENTRYPOINT },
      rootfs: { type: 'layers', diff_ids: [layer] },
    }),
  );
  const config = await registry.putBlob(REPOSITORY, about);
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = {
    ...{ schemaVersion: 2, mediaType: type },
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: config, size: about.length },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: layer, size: layerBytes.length }],
  };
  await registry.putManifest(REPOSITORY, '1', Buffer.from(JSON.stringify(manifest)), type);
}

/** Stores a signature as cosign 3 does where the registry has no referrers API. */
async function sign(registry: DockerRegistry, sigstore: FakeSigstore, digest: string): Promise<void> {
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const bundle = Buffer.from(
    JSON.stringify(await sigstore.signStatement(digest, workflowClaims('org/server', 'release.yml'))),
  );
  const empty = Buffer.from('{}');
  const config = {
    mediaType: 'application/vnd.oci.empty.v1+json',
    digest: await registry.putBlob(REPOSITORY, empty),
    size: 2,
  };
  const layer = {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    digest: await registry.putBlob(REPOSITORY, bundle),
    size: bundle.length,
  };
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: type, config, layers: [layer] }));
  const manifestDigest = await registry.putManifest(REPOSITORY, 'signature', manifest, type);
  const indexType = 'application/vnd.oci.image.index.v1+json';
  const manifests = [{ mediaType: type, digest: manifestDigest, size: manifest.length }];
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }));
  await registry.putManifest(REPOSITORY, digest.replace(':', '-'), index, indexType);
}

async function callEcho(out: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(/runs at (\S+)/.exec(out)?.[1] ?? '')));
  try {
    return await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  } finally {
    await client.close();
  }
}
