import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { createLog, definePlugin, type Gateway, type Plugin } from '@toolmgr/core';
import { pinChanged } from '@toolmgr/plugins/kit/extension-points';
import { atomicWrite } from '@toolmgr/plugins/kit/files';
import {
  type LockedPins,
  listedEntries,
  lockedPins,
  readPins,
  scan,
  visibleLine,
} from '@toolmgr/plugins/kit/tool-pins';
import { z } from 'zod';
import { UsageError } from '../shared/usage-error.ts';
import { leftFor, planFromConfig, type SectionedConfig } from './plan.ts';
import { withStartedBackends } from './with-started-backends.ts';

/** The section that these commands set, whatever the file says. */
export const PINNING = 'toolPinning';

/** The file with the hashes of a vmcp file, beside it: `vmcp.pins.json` for `vmcp.yaml`. */
export function lockFileOf(file: string): string {
  return join(dirname(resolve(file)), `${basename(file, extname(file))}.pins.json`);
}

/** The configuration with pins that are read from a file, and never written. */
export function frozenBy<Read extends SectionedConfig>(read: Read, lock: string): Read {
  return pinnedBy(read, { mode: 'frozen', file: resolve(lock) });
}

function pinnedBy<Read extends SectionedConfig>(
  read: Read,
  section: { readonly mode: string; readonly file: string },
): Read {
  return { ...read, config: { ...read.config, [PINNING]: section } };
}

/** What `vmcp lock` wrote, and what a person should look at. */
export interface Locked extends LockedPins {
  readonly findings: readonly string[];
}

/**
 * Connects to the backends of a file once, and writes what they list into `lock`.
 * @throws UsageError when a backend does not answer: the file would lack its definitions; GatewayFault as a start
 */
export async function writeLock(read: SectionedConfig, file: string, lock: string): Promise<Locked> {
  const before = await readPins(lock);
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-lock-')); // another user of the machine could put pins into a file
  const temporary = join(folder, 'pins.json');
  try {
    const plan = planFromConfig(leftFor('listing', pinnedBy(read, { mode: 'trustFirst', file: temporary })));
    await withStartedBackends(plan, file, { log: createLog('error', () => {}) }, refuseMissing);
    const locked = lockedPins(await readPins(temporary), before);
    await atomicWrite(lock, `${JSON.stringify(locked.pins, undefined, 2)}\n`);
    const findings = listedEntries(locked.pins).flatMap(({ id, pins }) =>
      pins.approved.flatMap(({ definition }) =>
        scan(definition).map(({ path, finding }) => visibleLine(`${id}: ${path} has ${finding}`)),
      ),
    );
    return { ...locked, findings };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function refuseMissing(gateway: Gateway): void {
  const [held] = heldTools(gateway); // the first build of the catalogue pins the lists
  if (held !== undefined) throw new UsageError(`${held}; nothing is written`);
  for (const { backend, status, cause } of gateway.backends()) {
    if (status === 'ready') continue;
    throw new UsageError(
      `backend ${backend.name} is ${status}${cause === undefined ? '' : `: ${cause.message}`}; nothing is written`,
    );
  }
}

/** Tools that are held, one clause each. */
function heldTools(gateway: Gateway): readonly string[] {
  return gateway
    .catalog()
    .allTools()
    .flatMap(({ held, original, backend }) => (held === undefined ? [] : [driftOf('tool', original, backend, held)]));
}

function driftOf(kind: string, name: string, backend: string, reason: string | undefined): string {
  return visibleLine(`${kind} ${name} of ${backend}: ${reason}`);
}

/** Refuses the start of a gateway whose lists differ from a lock file. */
export interface DriftCheck {
  readonly plugin: Plugin;
  /** Waits for the first lists. @throws UsageError naming what differs */
  check(gateway: Gateway): Promise<void>;
}

/** Makes the check for one gateway. */
export function driftCheck(lock: string): DriftCheck {
  const drift = new Set<string>();
  const address = 'frozen';
  return {
    plugin: definePlugin({
      address,
      config: z.strictObject({}),
      apply: (core) =>
        core.hook(pinChanged).tap(address, ({ change, backend, kind, name, reason }) => {
          if (change === 'held') drift.add(driftOf(kind, name, backend, reason));
        }),
    }) as Plugin,
    async check(gateway) {
      await gateway.settled();
      const all = [...new Set([...drift, ...heldTools(gateway)])];
      if (all.length === 0) return;
      const shown = all.slice(0, MOST_SHOWN).map((each) => `\n  ${each}`);
      const more = all.length > shown.length ? `\n  and ${all.length - shown.length} more` : '';
      throw new UsageError(`the backends list what ${lock} does not have:${shown.join('')}${more}`);
    },
  };
}

const MOST_SHOWN = 20;
