import { GatewayFault } from '@toolmgr/core';
import type { Engine } from './engine.ts';
import { MANAGED } from './labels.ts';

const PULL_MS = 600_000;

/** Label of an image whose server needs no writable root. */
const READ_ONLY_ROOT = `${MANAGED}.read-only-root`;

/** An image that the engine has. */
export interface LocalImage {
  readonly id: string;
  /** Ports that the image declares. */
  readonly exposedPorts: readonly number[];
  /** It says that its server writes to `/tmp` and mounts only. */
  readonly hasReadOnlyRoot: boolean;
}

/**
 * Makes sure that the engine has an image. One without a tag, or with `latest`, is pulled each time and the local copy is
 * used when that fails; any other is pulled only when it is missing.
 *
 * Source: reference run-command §4.9.
 * @throws GatewayFault WORKLOAD_FAILED when the image is neither there nor pullable
 */
export async function ensureImage(
  engine: Engine,
  reference: string,
  signal: AbortSignal,
  onProgress: (line: string) => void = () => {},
): Promise<LocalImage> {
  const local = await inspect(engine, reference);
  if (local !== undefined && !isFloating(reference)) return local;
  try {
    await pull(engine, reference, AbortSignal.any([signal, AbortSignal.timeout(PULL_MS)]), onProgress);
  } catch (cause) {
    if (local !== undefined) return local;
    throw new GatewayFault('WORKLOAD_FAILED', whyNotPulled(reference, cause));
  }
  const pulled = await inspect(engine, reference);
  if (pulled !== undefined) return pulled;
  throw new GatewayFault('WORKLOAD_FAILED', `the image ${reference} was pulled and is not there`);
}

function whyNotPulled(reference: string, cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const why = message.replace(HTTP_PREFIX, '').trim();
  const way = WAYS_OUT.find(([pattern]) => pattern.test(why))?.[1];
  const advice = way === undefined ? '' : ` (${way})`;
  return `there is no image ${reference} here, and it could not be pulled: ${why}${advice}`;
}

const HTTP_PREFIX = /^\(HTTP code \d+\) [a-z -]+ - /; // which dockerode puts before the message of the engine

const WAYS_OUT = [
  [
    /no such host|connection refused|unreachable|timeout|deadline exceeded/i,
    'the engine does not reach the registry of the image; without a network, load the image from a file: docker load -i FILE',
  ],
  [
    /denied|unauthorized|authentication required/i,
    'there is no such image, or it needs a login: pull it with docker or podman first; an image with a tag other than latest is then used',
  ],
] as const;

async function inspect({ api }: Engine, reference: string): Promise<LocalImage | undefined> {
  try {
    const { Id, Config } = await api.getImage(reference).inspect();
    const exposedPorts = Object.keys(Config?.ExposedPorts ?? {})
      .filter((port) => port.endsWith('/tcp'))
      .map((port) => Number.parseInt(port, 10));
    return { id: Id, exposedPorts, hasReadOnlyRoot: Config?.Labels?.[READ_ONLY_ROOT] === 'true' };
  } catch (cause) {
    if ((cause as { statusCode?: number }).statusCode === 404) return undefined;
    throw cause;
  }
}

/** Podman answers 200 for an image that does not exist and says so in the stream, so the stream is read to its end. */
async function pull(
  { api }: Engine,
  reference: string,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<void> {
  const stream = await api.pull(reference, { abortSignal: signal });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let last = '';
  api.modem.followProgress(
    stream,
    (failure: Error | null) => (failure === null ? resolve() : reject(failure)),
    ({ error, status, id }: { readonly error?: string; readonly status?: string; readonly id?: string }) => {
      if (error !== undefined) reject(new Error(error));
      // Docker repeats a layer's state for each piece of it
      const line = `pull ${reference}${id === undefined ? '' : ` ${id}`}: ${status}`;
      if (status === undefined || line === last) return;
      last = line;
      onProgress(line);
    },
  );
  await promise;
}

function isFloating(reference: string): boolean {
  if (reference.includes('@')) return false;
  const tag = /:([^/:]+)$/.exec(reference)?.[1];
  return tag === undefined || tag === 'latest';
}
