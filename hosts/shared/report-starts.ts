import type { BackendState, Gateway } from '@toolmgr/core';

/** What a person is told about programs whose first start takes its time. */
export interface StartTelling {
  /** The gateway of this moment: a reload puts another one there. */
  gateway(): Pick<Gateway, 'backends' | 'catalog'>;
  say(line: string): void;
  readonly signal: AbortSignal;
  /** Between two lines about starts that go on. */
  readonly everyMs?: number;
}

/** A start that was told of. */
interface Told {
  readonly sinceMs: number;
  atMs: number;
  /** How long it took, once it was seen ready. */
  tookMs?: number;
}

/**
 * Says, until `signal` aborts, which programs are still starting and for how long, and of each that was named so when it is
 * ready or why it is not. Programs that are ready at once are not spoken of.
 */
export function tellStarts({ gateway, say, signal, everyMs = EVERY_MS }: StartTelling): void {
  const told = new Map<string, Told>();
  const look = (): void => {
    const states = gateway().backends();
    for (const state of states) settleOne(state);
    const going = states.filter(({ backend, startingSinceMs }) => isDue(told.get(backend.name), startingSinceMs));
    if (going.length === 0) return;
    say(`still starting: ${going.map((state) => `${state.backend.name} (${secondsOf(state)} s)`).join(', ')}`);
    for (const { backend, startingSinceMs = 0 } of going) {
      const sinceMs = told.get(backend.name)?.sinceMs ?? startingSinceMs;
      told.set(backend.name, { sinceMs, atMs: performance.now() });
    }
  };
  const settleOne = ({ backend: { name }, status, startingSinceMs, cause }: BackendState): void => {
    const before = told.get(name);
    if (before === undefined || startingSinceMs !== undefined || status === 'unknown') return;
    const isSeen = before.tookMs !== undefined;
    before.tookMs ??= Date.now() - before.sinceMs;
    // its tools are in the catalogue a moment after it is ready
    if (status === 'ready' && !isSeen) return;
    told.delete(name);
    const seconds = Math.round(before.tookMs / 1000);
    if (status !== 'ready') return say(`${name} did not start in ${seconds} s: ${cause?.message ?? status}`);
    const tools = gateway()
      .catalog()
      .visible('tool')
      .filter((tool) => tool.workload === name);
    say(`${name} is ready after ${seconds} s, ${counted(tools.length)}`);
  };
  const isDue = (before: Told | undefined, startingSinceMs: number | undefined): boolean => {
    if (startingSinceMs === undefined) return false;
    const quietMs = before === undefined ? Date.now() - startingSinceMs : performance.now() - before.atMs;
    return quietMs >= (before === undefined ? FIRST_MS : everyMs);
  };
  const watching = setInterval(look, LOOK_MS);
  watching.unref();
  signal.addEventListener('abort', () => clearInterval(watching), { once: true });
}

/** How long a program has been starting, in whole seconds. */
export function secondsOf({ startingSinceMs }: Pick<BackendState, 'startingSinceMs'>): number {
  return Math.max(0, Math.floor((Date.now() - (startingSinceMs ?? Date.now())) / 1000));
}

/** A number of tools, in words. */
export const counted = (tools: number): string => (tools === 1 ? '1 tool' : `${tools} tools`);

const LOOK_MS = 250;
const FIRST_MS = 3_000; // most programs are ready by then
const EVERY_MS = 10_000;
