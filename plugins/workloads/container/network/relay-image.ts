import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayFault } from '@toolmgr/core';
import type { Installation } from '@toolmgr/plugins/kit/workloads';
import { pack } from 'tar-stream';
import type { Engine } from '../engine.ts';
import { ensureImage } from '../image.ts';
import { MANAGED, OWNER } from '../labels.ts';

/** Names an image with Node.js 20 or later in its PATH, for engines that cannot use the Node.js of this machine. */
export const IMAGE_VARIABLE = 'TOOLMGR_NETWORK_IMAGE';

const REPOSITORY = 'localhost/toolmgr/network';
const BUILD_MS = 120_000;
const FORMAT = '1';

/** Files that the image consists of, by the path that they have here and in it. */
interface ImageFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Makes sure that the engine has an image for network sidecars: the one that `TOOLMGR_NETWORK_IMAGE` names, else one of
 * the running Node.js and its libraries, which is made once per engine, installation and version of Node.js. It needs no registry.
 *
 * `note` gets one line when the image is made.
 * @throws GatewayFault WORKLOAD_FAILED when this is not Linux and no image is named, or the engine refuses
 */
export async function ensureRelayImage(
  engine: Engine,
  signal: AbortSignal,
  note: (line: string) => void,
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): Promise<string> {
  const named = env[IMAGE_VARIABLE];
  if (named) return (await ensureImage(engine, named, signal)).id;
  if (platform !== 'linux') {
    throw new GatewayFault(
      'WORKLOAD_FAILED',
      `network isolation needs an image with Node.js, which toolmgr can make only on Linux: set ${IMAGE_VARIABLE}, ` +
        'e.g. to docker.io/library/node:24-alpine, or run the container with --isolate-network=false',
    );
  }
  const files = await filesOfNode();
  const owner = await engine.owner();
  const tag = keyOf(files, owner);
  const image = `${REPOSITORY}:${tag}`;
  if (!(await hasImage(engine, image))) {
    note('network isolation: the image of the sidecar is being made from the Node.js of this machine');
    const until = AbortSignal.any([signal, AbortSignal.timeout(BUILD_MS)]);
    await makeImage(engine, files, { tag, owner }, until);
    await removeOld(engine, tag, owner);
  }
  return image;
}

/** The running Node.js, and the libraries that it has loaded. */
async function filesOfNode(): Promise<readonly ImageFile[]> {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  report.excludeNetwork = true; // it would look names up
  const { sharedObjects = [] } = report.getReport() as { readonly sharedObjects?: readonly string[] };
  const paths = new Set([
    process.execPath,
    ...sharedObjects.filter((path) => isAbsolute(path) && !path.endsWith('.node')),
  ]);
  return Promise.all(
    [...paths].map(async (path) => {
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    }),
  );
}

/** Changes with every other version of Node.js or of a library. Installations share no image: each removes its own. */
function keyOf(files: readonly ImageFile[], { id }: Installation): string {
  const content = JSON.stringify([FORMAT, id, process.version, process.arch, files]);
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

async function hasImage({ api }: Engine, image: string): Promise<boolean> {
  try {
    await api.getImage(image).inspect();
    return true;
  } catch (cause) {
    if ((cause as { statusCode?: number }).statusCode === 404) return false;
    throw cause;
  }
}

async function makeImage(
  { api, kind }: Engine,
  files: readonly ImageFile[],
  { tag, owner }: { readonly tag: string; readonly owner: Installation },
  signal: AbortSignal,
): Promise<void> {
  const archive = pack();
  const body = Readable.from(archive);
  const written = (async () => {
    for (const { path, size } of files) {
      const name = path === process.execPath ? 'usr/bin/node' : path.slice(1);
      await pipeline(createReadStream(path, { end: size - 1 }), archive.entry({ name, size, mode: 0o755 }), { signal });
    }
    archive.finalize();
  })();
  written.catch((cause: Error) => archive.destroy(cause));
  // podman gives what it imports the tag latest, whatever it is told
  const repository = kind === 'podman' ? `${REPOSITORY}-${tag}` : REPOSITORY;
  const changes = `LABEL ${MANAGED}=true ${MANAGED}.role=network ${OWNER}=${owner.id}`;
  const stream = await api.importImage(body, { repo: repository, tag, changes, abortSignal: signal });
  await finished(api, stream);
  await written;
  if (kind !== 'podman') return;
  for (const name of [`${repository}:latest`, `${repository}:${tag}`]) {
    const image = api.getImage(name);
    await image.tag({ repo: REPOSITORY, tag }).catch(() => undefined);
    await image.remove().catch(() => undefined);
  }
}

function finished(api: Engine['api'], stream: NodeJS.ReadableStream): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  api.modem.followProgress(
    stream,
    (failure: Error | null) => (failure === null ? resolve() : reject(failure)),
    ({ error }: { readonly error?: string }) => {
      if (error !== undefined) reject(new Error(error));
    },
  );
  return promise;
}

/** Removes the images of other versions of Node.js that this installation made, unless containers use them. */
async function removeOld({ api }: Engine, tag: string, owner: Installation): Promise<void> {
  const filters = { label: [`${MANAGED}.role=network`, `${OWNER}=${owner.id}`] };
  const images = await api.listImages({ filters }).catch(() => []);
  const names = images.flatMap(({ RepoTags }) => RepoTags ?? []);
  const old = names.filter((name) => name.startsWith(`${REPOSITORY}:`) && name !== `${REPOSITORY}:${tag}`);
  await Promise.all(
    old.map((name) =>
      api
        .getImage(name)
        .remove()
        .catch(() => undefined),
    ),
  );
}
