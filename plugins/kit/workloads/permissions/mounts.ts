import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, posix, resolve } from 'node:path';
import type { ContainerMount } from '../runtimes.ts';

/** Mounts and what a person should know about them, or why they are refused. */
export type MountsRead =
  | { readonly mounts: readonly ContainerMount[]; readonly warnings: readonly string[] }
  | { readonly reason: string };

type MountRead = ContainerMount | { readonly reason: string };

const UNSAFE = /[$&;|`\0]/;

/**
 * Reads `--volume HOST:CONTAINER[:ro]` options and the mounts of a permission profile (`path` or `host:container`).
 *
 * A relative path is meant from `cwd`. A path that is to be read and written is written. A container path that is named
 * twice keeps its first mount, with a warning. A host path that does not exist is refused: the engine would create it.
 * `exists`: the file system's answer; a caller that checked before passes `() => true`.
 * Source: run spec §1; reference run-command §4.7.
 */
export function readMounts(
  volumes: readonly string[],
  profile: { readonly read: readonly string[]; readonly write: readonly string[] },
  cwd: string,
  exists: (path: string) => boolean = existsSync,
): MountsRead {
  const read = [
    ...volumes.map((text) => volumeFrom(text, { cwd, exists })),
    ...profile.write.map((text) => profileMount(text, false, { cwd, exists })),
    ...profile.read.map((text) => profileMount(text, true, { cwd, exists })),
  ];
  const mounts = new Map<string, ContainerMount>();
  const warnings: string[] = [];
  for (const mount of read) {
    if ('reason' in mount) return mount;
    warnings.push(...dangersOf(mount));
    const before = mounts.get(mount.target);
    if (before === undefined) mounts.set(mount.target, mount);
    else if (before.source !== mount.source) {
      warnings.push(`${mount.target} is mounted twice; ${before.source} is used and ${mount.source} is not`);
    }
  }
  return { mounts: [...mounts.values()], warnings };
}

const ENGINE_SOCKETS = ['/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock'];

/** Mounts that give a container this machine, whatever else limits it. */
function dangersOf({ source }: ContainerMount): readonly string[] {
  const path = realPath(source).replace(/^\/var\/run(?=\/|$)/, '/run');
  if (path === '/') return ['the container gets every file of this machine (mount of /)'];
  const socket = ENGINE_SOCKETS.find((each) => each === path || each.startsWith(`${path}/`));
  if (socket === undefined && !/\/(docker|podman|containerd)\.sock$/.test(path)) return [];
  return [`the container can control the container engine, and so this machine (mount of ${source})`];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is the caller who says that it exists
  }
}

/** Where relative paths begin, and which paths there are. */
interface Paths {
  readonly cwd: string;
  exists(path: string): boolean;
}

function volumeFrom(text: string, paths: Paths): MountRead {
  const parts = partsOf(text);
  const [source, target, mode, ...more] = parts;
  if (source === undefined || target === undefined || more.length > 0) {
    return { reason: `--volume ${text}: expected HOST:CONTAINER or HOST:CONTAINER:ro` };
  }
  if (mode !== undefined && mode !== 'ro' && mode !== 'rw') {
    return { reason: `--volume ${text}: expected ro after the second colon` };
  }
  return mountOf(text, source, target, mode === 'ro', paths);
}

function profileMount(text: string, readOnly: boolean, paths: Paths): MountRead {
  if (/^[a-z]+:\/\//i.test(text)) {
    return { reason: `mount ${text} of the permission profile: named volumes are not supported, use a path` };
  }
  const [source, target, ...more] = partsOf(text);
  if (source === undefined || more.length > 0) {
    return { reason: `mount ${text} of the permission profile: expected PATH or HOST:CONTAINER` };
  }
  return mountOf(text, source, target ?? resolve(paths.cwd, source), readOnly, paths);
}

function mountOf(text: string, from: string, target: string, readOnly: boolean, { cwd, exists }: Paths): MountRead {
  if (UNSAFE.test(text)) return { reason: `mount ${text}: a path must not contain $, &, ;, |, a backtick or NUL` };
  if (from === '' || target === '') return { reason: `mount ${text}: a path is empty` };
  if (!posix.isAbsolute(target)) return { reason: `mount ${text}: the container path must be absolute` };
  const normal = posix.normalize(target).replace(/(?<=.)\/$/, '');
  if (normal === '/') return { reason: `mount ${text}: the root of the container cannot be replaced` };
  const source = isAbsolute(from) ? resolve(from) : resolve(cwd, from);
  // the engine would read a colon as the end of the path
  if (source.replace(/^[A-Za-z]:(?=[\\/])/, '').includes(':')) {
    return { reason: `mount ${text}: ${source} contains a colon, which separates the parts of a mount` };
  }
  if (!exists(source)) return { reason: `mount ${text}: ${source} does not exist on this machine` };
  return { source, target: normal, readOnly };
}

/** A Windows drive: `C:\dir`, or `C:/dir` when a container path follows. `w:/w` is a folder `w` and its container path. */
const DRIVE = /^[A-Za-z]:(?:\\|\/[^:]*:\/)/;

/** Parts between colons; the colon of a Windows drive is none. */
function partsOf(text: string): readonly string[] {
  const drive = DRIVE.test(text) ? text.slice(0, 2) : '';
  const [first = '', ...rest] = text.slice(drive.length).split(':');
  return [drive + first, ...rest];
}

/** A mount as `--volume` writes it. */
export function volumeText({ source, target, readOnly }: ContainerMount): string {
  return `${source}:${target}${readOnly ? ':ro' : ''}`;
}
