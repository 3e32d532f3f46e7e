import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { packWorkspaces, type Tarball } from '../pack/pack-workspaces.ts';
import { missingRigs } from '../rigs/missing-rigs.ts';
import { waitingChangesets } from './changesets.ts';
import { checksumsOf, writeChecksums } from './checksums.ts';
import { buildImage, type ImageOutcome, pushImage } from './container-image.ts';
import { buildExecutable } from './executable/build-executable.ts';
import type { PlatformName } from './executable/platforms.ts';
import { startLocalRegistry } from './local-registry.ts';
import type { Outcome } from './outcome.ts';
import { provenanceOf, signingOf, writeSignedProvenance } from './provenance.ts';
import { canProve, publishPackages } from './publish.ts';
import { writeLockSbom, writePackageSbom } from './sbom.ts';
import { type SourceState, sourceState } from './source-state.ts';
import { productVersion } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const REPOSITORY = 'https://github.com/toolmgr/toolmgr';

/** Parts that `--skip` leaves out. */
export const PARTS = ['executables', 'image', 'signature', 'publish'] as const;
export type Part = (typeof PARTS)[number];

export interface ReleaseOptions {
  readonly dryRun: boolean;
  readonly out: string | undefined;
  readonly platforms: readonly PlatformName[];
  readonly skip: ReadonlySet<Part>;
  readonly registry: string;
  readonly nodeImage: string;
  /** Level of zstd for executables. */
  readonly level: number;
  /** Asks before a real run begins. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly progress: (line: string) => void;
}

/** What a release made. */
export interface ReleaseResult {
  readonly version: string;
  readonly outcomes: readonly Outcome[];
  /** The folder with the files. */
  readonly files: string;
}

/**
 * Makes everything of a version: tarballs, executables, image, bills of materials, provenance and checksums; then publishes.
 * A part that fails does not stop the others, but nothing is published after a failure.
 *
 * @throws Error when this state of the source may not be published
 */
export async function release(options: ReleaseOptions): Promise<ReleaseResult> {
  const { dryRun, progress, skip } = options;
  const startedOn = new Date();
  const version = productVersion();
  requireTools(dryRun && !skip.has('publish') ? ['release', 'packaging'] : ['release']);
  const source = await sourceState(version, waitingChangesets());
  if (!dryRun && source.faults.length > 0) throw new Error(source.faults.join('\n'));
  if (!dryRun && !(await options.confirm(`Publish toolmgr ${version} (${source.commit.slice(0, 8)})?`))) {
    throw new Error('nothing was published');
  }
  const out = emptyFolder(options.out);
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-release-'));
  const outcomes: Outcome[] = source.faults.map((detail) => ({ name: 'source', state: 'skipped', detail }));
  const add = (...more: readonly Outcome[]): void => void outcomes.push(...more);
  try {
    progress('packages …');
    const tarballs = await packWorkspaces(out);
    add(...tarballs.map(({ file, bytes }) => made(file, 'npm package', bytes)), ...(await packageSboms(tarballs, out)));
    add(...(await executables(tarballs, { ...options, version, out, scratch })));
    progress('image …');
    const image = await imageOf(options, version, source, out);
    add(...image.outcomes);
    progress('provenance and checksums …');
    add(...(await provenance({ out, version, source, startedOn, skip })));
    const sums = await checksumsOf(out);
    add(made(writeChecksums(out, sums), `SHA-256 of ${sums.length} files`));
    progress('publish …');
    const isWhole = outcomes.every(({ state }) => state !== 'failed');
    add(...(await publish(tarballs, image.built, options, isWhole)));
    return { version, outcomes, files: out };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function requireTools(names: readonly ('release' | 'packaging')[]): void {
  const missing = missingRigs(...names);
  if (missing !== undefined) throw new Error(missing);
}

/** The folder for the files. Only the usual one is emptied: another may have files of the user. */
function emptyFolder(given: string | undefined): string {
  const folder = given === undefined ? join(ROOT, 'dist/release') : resolve(given);
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  return folder;
}

function made(file: string, detail: string, size = statSync(file).size): Outcome {
  return { name: basename(file), state: 'made', size, detail };
}

/** Runs a step; what it throws is its outcome. */
async function attempt(name: string, step: () => Promise<readonly Outcome[]>): Promise<readonly Outcome[]> {
  try {
    return await step();
  } catch (cause) {
    return [{ name, state: 'failed', detail: cause instanceof Error ? cause.message : String(cause) }];
  }
}

async function packageSboms(tarballs: readonly Tarball[], out: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { workspace, file } of tarballs) {
    const sbom = join(out, `${basename(file, '.tgz')}.cdx.json`);
    const step = async () => [made(sbom, `CycloneDX, ${await writePackageSbom(workspace, sbom)} components`)];
    outcomes.push(...(await attempt(basename(sbom), step)));
  }
  return outcomes;
}

async function executables(
  packages: readonly Tarball[],
  {
    platforms,
    skip,
    progress,
    ...options
  }: ReleaseOptions & { readonly version: string; readonly out: string; readonly scratch: string },
): Promise<readonly Outcome[]> {
  if (skip.has('executables')) return [{ name: 'executables', state: 'skipped', detail: '--skip' }];
  const outcomes: Outcome[] = [];
  for (const platform of platforms) {
    progress(`executable ${platform} …`);
    const step = async (): Promise<readonly Outcome[]> => {
      const built = await buildExecutable(platform, { ...options, packages });
      if ('skipped' in built) return [{ name: `executable ${platform}`, state: 'skipped', detail: built.skipped }];
      const sbom = join(options.out, `toolmgr-${options.version}-${platform}.cdx.json`);
      return [made(built.file, `executable with Node ${built.node}`), made(sbom, 'CycloneDX')];
    };
    outcomes.push(...(await attempt(`executable ${platform}`, step)));
  }
  return outcomes;
}

async function imageOf(
  { skip, nodeImage }: ReleaseOptions,
  version: string,
  { commit }: SourceState,
  out: string,
): Promise<{ readonly built?: Exclude<ImageOutcome, { skipped: string }>; readonly outcomes: readonly Outcome[] }> {
  if (skip.has('image')) return { outcomes: [{ name: 'image', state: 'skipped', detail: '--skip' }] };
  let built: Exclude<ImageOutcome, { skipped: string }> | undefined;
  const outcomes = await attempt('image', async () => {
    const outcome = await buildImage({ version, commit }, nodeImage);
    if ('skipped' in outcome) return [{ name: 'image', state: 'skipped', detail: outcome.skipped }];
    built = outcome;
    const sbom = join(out, `toolmgr-${version}-image.cdx.json`);
    const components = await writeLockSbom(sbom, { name: 'toolmgr image', version, node: nodeImage });
    return [
      { name: outcome.tag, state: 'made', size: outcome.size, detail: `image, built by ${outcome.engine}` },
      made(sbom, `CycloneDX, ${components} components`),
    ];
  });
  return built === undefined ? { outcomes } : { built, outcomes };
}

async function provenance({
  out,
  version,
  source,
  startedOn,
  skip,
}: {
  readonly out: string;
  readonly version: string;
  readonly source: SourceState;
  readonly startedOn: Date;
  readonly skip: ReadonlySet<Part>;
}): Promise<readonly Outcome[]> {
  const facts = { repository: REPOSITORY, commit: source.commit, version, node: process.versions.node };
  const statement = provenanceOf(await checksumsOf(out), {
    ...facts,
    startedOn,
    finishedOn: new Date(),
    env: process.env,
  });
  const file = join(out, `toolmgr-${version}.intoto.json`);
  writeFileSync(file, `${JSON.stringify(statement, null, 2)}\n`);
  const signed = await attempt('signature', async () => {
    if (skip.has('signature')) return [{ name: 'signature', state: 'skipped', detail: '--skip' }];
    const signing = await signingOf(process.env);
    const detail = 'no identity for Sigstore: CI with OIDC tokens has one, or SIGSTORE_ID_TOKEN';
    if (signing === undefined) return [{ name: 'signature', state: 'skipped', detail }];
    const bundle = join(out, `toolmgr-${version}.sigstore.json`);
    await writeSignedProvenance(statement, bundle, signing);
    return [made(bundle, 'Sigstore bundle of the provenance')];
  });
  return [made(file, 'in-toto statement, SLSA provenance'), ...signed];
}

async function publish(
  tarballs: readonly Tarball[],
  image: { readonly engine: string; readonly tag: string } | undefined,
  { dryRun, registry, skip }: ReleaseOptions,
  isWhole: boolean,
): Promise<readonly Outcome[]> {
  if (skip.has('publish')) return [{ name: 'publish', state: 'skipped', detail: '--skip' }];
  if (!isWhole) return [{ name: 'publish', state: 'skipped', detail: 'something failed above' }];
  return attempt('publish', async () => {
    if (dryRun) {
      await using local = await startLocalRegistry();
      const done = await publishPackages(tarballs, local, { provenance: false });
      const detail = `${done.length} packages to a registry on this machine, and read back`;
      return [{ name: 'publish', state: 'made', detail }];
    }
    const done = await publishPackages(tarballs, { url: registry }, { provenance: canProve(process.env) });
    if (image !== undefined) await pushImage(image);
    const proof = canProve(process.env) ? 'with provenance' : 'without provenance: this is no CI with OIDC tokens';
    return [{ name: 'publish', state: 'made', detail: `${done.length} packages to ${registry}, ${proof}` }];
  });
}
