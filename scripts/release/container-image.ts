import { join } from 'node:path';
import { isInstalled, runTool } from '../rigs/run-tool.ts';

const ROOT = join(import.meta.dirname, '../..');
export const NODE_IMAGE = 'docker.io/library/node:24-bookworm';
const REPOSITORY = 'ghcr.io/toolmgr/toolmgr';
/** An image of this size or more is not published. */
const MAX_BYTES = 200_000_000;

/** A built image, or why there is none. */
export type ImageOutcome =
  | { readonly engine: string; readonly tag: string; readonly size: number }
  | { readonly skipped: string };

/**
 * Builds the image with Docker or Podman, whichever answers first.
 * @throws Error when the build fails or the image is too large
 */
export async function buildImage(
  { version, commit }: { readonly version: string; readonly commit: string },
  nodeImage = NODE_IMAGE,
): Promise<ImageOutcome> {
  const engine = ['docker', 'podman'].find((name) => isInstalled(name, 'info'));
  if (engine === undefined) return { skipped: 'no container engine answers (docker info, podman info)' };
  const hasBase =
    (await succeeds(engine, ['image', 'inspect', nodeImage])) ||
    (await succeeds(engine, ['pull', '--quiet', nodeImage]));
  if (!hasBase) return { skipped: `${engine} cannot pull ${nodeImage}` };
  const tag = `${REPOSITORY}:${version}`;
  const given = [`NODE_IMAGE=${nodeImage}`, `VERSION=${version}`, `REVISION=${commit}`];
  const flags = given.flatMap((argument) => ['--build-arg', argument]);
  // Docker's format: that of OCI has no health check, and podman would drop it
  const format = engine === 'podman' ? ['--format', 'docker'] : [];
  await runTool(engine, ['build', ...format, '--file', 'Containerfile', '--tag', tag, ...flags, '.'], { cwd: ROOT });
  const size = Number((await runTool(engine, ['image', 'inspect', '--format', '{{.Size}}', tag])).trim());
  if (!(size < MAX_BYTES)) throw new Error(`the image has ${size} bytes, the limit is ${MAX_BYTES}`);
  return { engine, tag, size };
}

/** Pushes a built image. */
export async function pushImage({ engine, tag }: { readonly engine: string; readonly tag: string }): Promise<void> {
  await runTool(engine, ['push', tag]);
}

function succeeds(engine: string, args: readonly string[]): Promise<boolean> {
  return runTool(engine, args).then(
    () => true,
    () => false,
  );
}
