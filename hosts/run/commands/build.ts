import { writeFile } from 'node:fs/promises';
import { explainCause, present } from '@toolmgr/core';
import { isImageReference } from '@toolmgr/plugins/kit/oci';
import { connectEngine, planBuild } from '@toolmgr/plugins/workloads/container';
import { stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { buildWithProgress } from './package-image.ts';

/** Flags of `toolmgr build`. */
export interface BuildFlags {
  readonly tag?: string;
  readonly dryRun?: boolean;
  readonly output?: string;
  readonly buildWith?: readonly string[];
  readonly runtimeImage?: string;
  readonly runtimeAddPackage?: readonly string[];
  readonly caCert?: string;
  readonly format: 'text' | 'json';
}

/**
 * `toolmgr build`: builds the image of a package and prints its name, or prints or writes its Dockerfile.
 * Arguments after `--` become the first arguments of the server.
 * @throws UsageError when the package or a flag is wrong, or the file cannot be written
 */
export async function build(target: string, args: readonly string[], flags: BuildFlags): Promise<void> {
  const settings = {
    ...present({ baseImage: flags.runtimeImage, caCertFile: flags.caCert }),
    packages: flags.runtimeAddPackage ?? [],
    constraints: flags.buildWith ?? [],
  };
  const plan = await planBuild(target, settings, { cwd: process.cwd(), env: process.env, args });
  if ('reason' in plan) throw new UsageError(plan.reason);
  const tag = flags.tag ?? plan.tag;
  if (!isImageReference(tag) || tag.includes('@'))
    throw new UsageError(`--tag ${tag}: expected a name with a tag, such as localhost/my-server:1`);
  if (flags.output !== undefined) await writeText(flags.output, plan.dockerfile);
  if (flags.dryRun) {
    if (flags.format === 'json') return stdout.json({ target, image: tag, built: false, dockerfile: plan.dockerfile });
    if (flags.output === undefined) process.stdout.write(plan.dockerfile);
    else stdout.line(`the Dockerfile of ${target} is in ${flags.output}`);
    return;
  }
  await buildWithProgress(await connectEngine(process.env), plan, tag);
  if (flags.format === 'json') return stdout.json({ target, image: tag, built: true, dockerfile: plan.dockerfile });
  stdout.line(tag);
}

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new UsageError(`--output ${file} cannot be written: ${explainCause(cause)}`);
  }
}
