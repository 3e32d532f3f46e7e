import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainCause, GatewayFault } from '@toolmgr/core';
import type { ContainerMount, ContainerSpec, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { globalIgnoreFile, guardedIgnoreFiles, resolveOverlays } from '@toolmgr/plugins/kit/workloads/permissions';
import type { Engine } from './engine.ts';

/**
 * A workload with the mounts that a container of it gets which is created now. For each container anew: what matches may have another
 * name by then, and an engine creates a path that is hidden and not there in the folder of the user.
 * @throws GatewayFault WORKLOAD_FAILED as `resolveOverlays`, and when a mounted folder is gone
 */
export async function overlaid(
  { env }: Engine,
  spec: WorkloadSpec,
  note: (line: string) => void,
): Promise<WorkloadSpec> {
  if (spec.container === undefined) return spec;
  try {
    return { ...spec, container: { ...spec.container, mounts: await withOverlays(spec.container, env, note) } };
  } catch (cause) {
    const why = `workload ${spec.name}: ${explainCause(cause)}`;
    throw cause instanceof GatewayFault ? cause : new GatewayFault('WORKLOAD_FAILED', why, { cause });
  }
}

/**
 * The mounts of a container, and an empty, read-only file or directory over each thing that ignore files hide. Not a tmpfs: that
 * of podman shows what is below it. The ignore file of a writable mount is read-only.
 *
 * `note` gets one line per hidden path when the container is to print them.
 * @throws GatewayFault WORKLOAD_FAILED as `resolveOverlays`
 */
async function withOverlays(
  { mounts = [], ignore = { loadGlobal: true, printOverlays: false } }: ContainerSpec,
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
): Promise<readonly ContainerMount[]> {
  const overlays = await resolveOverlays(mounts, ignore.loadGlobal ? globalIgnoreFile(env) : undefined);
  const hidden = new Set(overlays.map(({ target }) => target));
  const guarded = (await guardedIgnoreFiles(mounts)).filter(({ target }) => !hidden.has(target));
  if (overlays.length === 0) return [...mounts, ...guarded];
  const empty = await emptySources(join(stateDir(env), 'empty'));
  if (ignore.printOverlays) for (const { target } of overlays) note(`hidden from the container: ${target}`);
  return [
    ...mounts,
    ...guarded,
    ...overlays.map(({ target, kind }) => ({ source: empty[kind], target, readOnly: true })),
  ];
}

async function emptySources(folder: string): Promise<Readonly<Record<'file' | 'directory', string>>> {
  const [file, directory] = [join(folder, 'file'), join(folder, 'directory')];
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFile(file, '', { flag: 'a', mode: 0o444 });
  const isEmpty = (await readdir(directory)).length === 0 && (await stat(file)).size === 0;
  if (!isEmpty) throw new Error(`${folder} must hold an empty file and an empty directory; remove it`);
  return { file, directory };
}
