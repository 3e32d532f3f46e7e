import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GatewayFault } from '@toolmgr/core';
import type { ImageBuildOptions } from 'dockerode';
import { pack } from 'tar-stream';
import type { Engine } from '../engine.ts';
import { ensureImage } from '../image.ts';
import { credentialsIn } from './machine-settings.ts';
import type { BuildPlan } from './plan-build.ts';

/** How a build is followed and ended. */
export interface BuildWatch {
  readonly signal: AbortSignal;
  /** Gets each line of the build's output, without credentials. */
  readonly onLine: (line: string) => void;
}

const BUILD_MS = 1_800_000;
const SHOWN_LINES = 20;
const MAX_LINE = 2_000;
/** Label of what a builder stage leaves; it is removed after the build. */
const BUILDER_LABEL = 'dev.toolmgr.builder';
/** Label of a built image: what it was built from. */
const IMAGE_LABEL = 'dev.toolmgr.built-from';
const DAY_MS = 86_400_000;

/** What happened to the image of a plan. */
export type Built = 'present' | 'built' | 'kept';

/**
 * Makes sure that the engine has the image of a plan. A present image is used without network. One of a floating version
 * that is older than a day is built again when `renew` is set, and kept when that fails.
 * @throws GatewayFault WORKLOAD_FAILED with the last lines of the build
 */
export async function ensureBuilt(
  engine: Engine,
  plan: BuildPlan,
  watch: BuildWatch,
  { renew = false, nowMs = Date.now() }: { readonly renew?: boolean; readonly nowMs?: number } = {},
): Promise<Built> {
  const present = await inspect(engine, plan.tag);
  const isOld = present !== undefined && nowMs - present.createdMs > DAY_MS;
  if (present !== undefined && !(renew && plan.isFloating && isOld)) return 'present';
  try {
    await buildImage(engine, plan, watch);
    // its name now belongs to the new image; one that a container uses stays
    if (present !== undefined)
      await engine.api
        .getImage(present.id)
        .remove()
        .catch(() => undefined);
    return 'built';
  } catch (cause) {
    if (present === undefined || watch.signal.aborted) throw cause;
    return 'kept';
  }
}

/**
 * Builds the image of a plan, also when it is there.
 * @throws GatewayFault WORKLOAD_FAILED with the last lines of the build
 */
export async function buildImage(
  engine: Engine,
  plan: BuildPlan,
  { signal: stop, onLine }: BuildWatch,
  tag = plan.tag,
): Promise<void> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(BUILD_MS)]);
  for (const base of plan.baseImages) await ensureBase(engine, base, plan.from, signal, onLine);
  const id = randomUUID(); // of this build: another one of the same package may run at once
  const secrets = credentialsIn(Object.values(plan.buildArgs));
  const tail: string[] = [];
  const note = (line: string): void => {
    const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line).slice(0, MAX_LINE);
    tail.push(clean);
    if (tail.length > SHOWN_LINES) tail.shift();
    onLine(clean);
  };
  try {
    await sendBuild(engine, await contextOf(plan, id), signal, note, {
      t: tag,
      buildargs: plan.buildArgs,
      labels: { 'dev.toolmgr.image': 'true', [IMAGE_LABEL]: plan.from },
      nocache: true,
      rm: true,
      forcerm: true,
      // podman: no image for each step; Docker does not know it
      ...({ layers: false } as object),
    });
  } catch (cause) {
    if (stop.aborted) throw new GatewayFault('WORKLOAD_FAILED', `the build of ${plan.from} was interrupted`, { cause });
    throw new GatewayFault('WORKLOAD_FAILED', failureText(plan.from, tail, cause), { cause });
  } finally {
    await removeBuilder(engine, id);
  }
}

async function ensureBase(
  engine: Engine,
  base: string,
  from: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  try {
    await ensureImage(engine, base, signal, onLine);
  } catch (cause) {
    signal.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayFault(
      'WORKLOAD_FAILED',
      `${from} is built on the image ${base}: ${why}. Name another base image with --runtime-image, or run the package ` +
        'as a process with --runtime process (nothing isolates it then)',
      { cause },
    );
  }
}

/** The context as a tar in memory: the Dockerfile, and the files of the plan. */
async function contextOf({ dockerfile, files }: BuildPlan, id: string): Promise<Buffer> {
  const tar = pack();
  const labelled = dockerfile.replace(/ AS builder\n/, ` AS builder\nLABEL ${BUILDER_LABEL}=${id}\n`);
  tar.entry({ name: 'Dockerfile' }, labelled);
  for (const { path, content, isExecutable } of files) {
    tar.entry({ name: path, mode: isExecutable ? 0o755 : 0o644 }, content);
  }
  tar.finalize();
  return buffer(tar);
}

async function sendBuild(
  { api }: Engine,
  context: Buffer,
  signal: AbortSignal,
  note: (line: string) => void,
  options: ImageBuildOptions,
): Promise<void> {
  const stream = await api.buildImage(Readable.from([context]), { ...options, abortSignal: signal });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy(); // the engine ends a build whose client has gone
    reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  let line = '';
  api.modem.followProgress(
    stream,
    (failure: Error | null) => (failure === null ? resolve() : reject(failure)),
    ({ stream: text = '', error }: { readonly stream?: string; readonly error?: string }) => {
      line += text;
      const all = line.split('\n');
      line = all.pop() ?? '';
      for (const one of all) if (one.trim() !== '') note(plain(one));
      if (error === undefined) return;
      note(plain(error));
      reject(new Error(error));
    },
  );
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Without colours and control characters of the programs in the build. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

function failureText(from: string, tail: readonly string[], cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = tail.length === 0 ? why : tail.join('\n  ');
  const hint = UNTRUSTED.test(text) ? '\nA proxy or registry with a certificate of its own needs --ca-cert FILE.' : '';
  return `the image of ${from} could not be built:\n  ${text}${hint}`;
}

/** What npm, pip, uv, Go and curl print about a certificate that they do not trust. */
const UNTRUSTED =
  /self.signed certificate|certificate verify failed|unable to (get|verify)|unknown authority|UnknownIssuer|VERIFY_FAILED/i;

/** The images of a builder stage hold its build arguments, and are large. Failures leave them to the engine's own clean-up. */
async function removeBuilder({ api }: Engine, id: string): Promise<void> {
  const filters = JSON.stringify({ dangling: ['true'], label: [`${BUILDER_LABEL}=${id}`] });
  await api.pruneImages({ filters }).catch(() => undefined);
}

async function inspect(
  { api }: Engine,
  tag: string,
): Promise<{ readonly id: string; readonly createdMs: number } | undefined> {
  try {
    const { Id, Created } = await api.getImage(tag).inspect();
    return { id: Id, createdMs: Date.parse(Created) };
  } catch (cause) {
    if ((cause as { statusCode?: number }).statusCode === 404) return undefined;
    throw cause;
  }
}
