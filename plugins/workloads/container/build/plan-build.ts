import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ContainerBuild } from '@toolmgr/plugins/kit/extension-points';

import { isFloating, nameOfTarget, readScheme } from '@toolmgr/plugins/kit/workloads/schemes';
import { BASE_IMAGES, dockerfileOf } from './dockerfile.ts';
import { type ContextFile, readGoFolder } from './go-folder.ts';
import { machineSettings, withoutCredentials } from './machine-settings.ts';
import { checkBuild, type Refused } from './options.ts';

/** An image that can be built from a package. */
export interface BuildPlan {
  /** The package as it was named, with its scheme. */
  readonly from: string;
  /** Name and tag; the tag is a hash of everything that the image depends on. */
  readonly tag: string;
  readonly dockerfile: string;
  /** Files beside the Dockerfile. */
  readonly files: readonly ContextFile[];
  readonly baseImages: readonly string[];
  /** Build arguments, which the image does not keep; they may hold passwords. */
  readonly buildArgs: Readonly<Record<string, string>>;
  /** The same package may be another program tomorrow. */
  readonly isFloating: boolean;
  readonly warnings: readonly string[];
}

/** Where a build takes its settings from. */
export interface BuildPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** First arguments of the server, kept in the image. */
  readonly args?: readonly string[];
}

/** Raised when the same Dockerfile means something else. */
const VERSION = 1;
const MAX_NAME = 100;

/** Plans the image of `npx://`, `uvx://` or `go://`; the reason when that cannot be. Reads files, asks no engine and no network. */
export async function planBuild(
  from: string,
  build: ContainerBuild,
  { cwd, env, args = [] }: BuildPlace,
): Promise<BuildPlan | Refused> {
  const read = readScheme(from);
  if (read === undefined) return { reason: `${from}: expected npx://, uvx:// or go://` };
  if (read.kind === 'refused') return read;
  const { target } = read;
  const checked = await checkBuild(target, build);
  if ('reason' in checked) return checked;
  const folder = 'folder' in target ? await readGoFolder(resolve(cwd, target.folder)) : undefined;
  if (folder !== undefined && 'reason' in folder) return folder;
  const { registries, proxies, warnings } = await machineSettings(target.scheme, env);
  const { ca, ...rest } = checked;
  const dockerfile = dockerfileOf({
    ...{ ...rest, target, args, hasCa: ca !== undefined, settings: Object.keys(registries) },
    ...(folder === undefined ? {} : { mainFolder: folder.mainFolder }),
  });
  const places = Object.entries(registries).map(([name, value]) => `${name}=${withoutCredentials(value)}`);
  const hash = createHash('sha256').update(JSON.stringify([VERSION, dockerfile, ca, folder?.hash, places]));
  const name = nameOfTarget(target, cwd)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME);
  const bases = BASE_IMAGES[target.scheme];
  return {
    from,
    tag: `localhost/toolmgr/${target.scheme}-${name.replace(/^-+|-+$/g, '') || 'server'}:${hash.digest('hex').slice(0, 16)}`,
    dockerfile,
    files: [
      ...(ca === undefined ? [] : [{ path: 'ca.crt', content: Buffer.from(ca), isExecutable: false }]),
      ...(folder?.files ?? []).map((file) => ({ ...file, path: `src/${file.path}` })),
    ],
    baseImages: checked.baseImage === undefined ? [...new Set(Object.values(bases))] : [checked.baseImage],
    buildArgs: { ...proxies, ...registries },
    isFloating: isFloating(target),
    warnings,
  };
}
