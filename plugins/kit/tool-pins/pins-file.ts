import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { explainIssues, GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { z } from 'zod';
import { atomicWrite } from '../files/atomic-write.ts';
import { withFileLock } from '../files/lock.ts';

// not a record: it would drop a member named `__proto__`, which a person must see
const definition = z.custom<JsonObject>(isObject, 'expected an object');
const pin = z.strictObject({
  hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  definition,
  /** When it was pinned, ISO 8601. */
  since: z.iso.datetime(),
  /** `first use`, `scan`, or the name of the user who approved it. */
  by: z.string(),
});
const held = z.strictObject({
  hash: z.string(),
  definition,
  since: z.iso.datetime(),
  /** Why it is held, as a clause. */
  reason: z.string(),
});
const entry = z.strictObject({
  /** Newest first. Callers may see different lists, so an entry may have several. */
  approved: z.array(pin).default([]),
  /** What backends list and no person has approved, newest first. */
  held: z.array(held).default([]),
  /** Hashes that a person rejected: they stay held. */
  rejected: z.array(z.string()).default([]),
});
const pinsFile = z.strictObject({
  format: z.literal('toolmgr-pins'),
  version: z.literal(1),
  /** By backend, then by kind and name, e.g. `tool create_issue`. */
  backends: z.record(z.string(), z.record(z.string(), entry)),
});

/** A pinned definition. */
export type Pin = z.output<typeof pin>;
/** A definition that waits for a person. */
export type Held = z.output<typeof held>;
/** The pins of one entry of a backend. */
export type EntryPins = z.output<typeof entry>;
/** The content of a pins file. */
export type Pins = z.output<typeof pinsFile>;

/** No backend has listed anything. */
export const NO_PINS: Pins = { format: 'toolmgr-pins', version: 1, backends: {} };

/** Definitions that are kept of one entry: more would let a backend that changes all the time fill the disk. */
export const MOST_OF_ENTRY = 8;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads a pins file; without a file there are no pins.
 * @throws GatewayFault PLAN_INVALID naming the file and what is wrong
 */
export async function readPins(file: string): Promise<Pins> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new GatewayFault('PLAN_INVALID', `${file} cannot be read: ${cause.message}`, { cause });
  });
  if (text === undefined) return NO_PINS;
  const read = pinsFile.safeParse(parsed(text));
  if (read.success) return read.data;
  const [problem = 'it is no JSON'] = explainIssues('', pinsFile, read.error);
  throw new GatewayFault('PLAN_INVALID', `${file} is no file of pins: ${problem}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Changes a pins file under its lock, so that a gateway and a command never overwrite each other. The folder is made.
 * @returns what the file has now
 * @throws GatewayFault PLAN_INVALID as {@link readPins}, and when the file would exceed 64 MiB
 */
export async function changePins(file: string, change: (pins: Pins) => Pins): Promise<Pins> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return withFileLock(file, async () => {
    const before = await readPins(file);
    const after = change(before);
    if (after === before) return before;
    const text = `${JSON.stringify(after, undefined, 2)}\n`;
    if (Buffer.byteLength(text) > MAX_BYTES)
      throw new GatewayFault(
        'PLAN_INVALID',
        `${file} would exceed ${MAX_BYTES / 1_048_576} MiB: remove backends from it`,
      );
    await atomicWrite(file, text);
    return after;
  });
}

/** The pins of one entry; none yet gives an empty value. */
export function pinsOf(pins: Pins, backend: string, entryName: string): EntryPins {
  const backends = pins.backends;
  const entries = Object.hasOwn(backends, backend) ? backends[backend] : undefined;
  const found = entries !== undefined && Object.hasOwn(entries, entryName) ? entries[entryName] : undefined;
  return found ?? { approved: [], held: [], rejected: [] };
}

/** Changed entries of a backend: pins by kind and name. */
export type ChangedPins = ReadonlyMap<string, ReadonlyMap<string, EntryPins>>;

/** A copy with other pins of some entries; the same value without changes. */
export function withChanges(pins: Pins, changed: ChangedPins): Pins {
  if (changed.size === 0) return pins;
  const backends = { ...pins.backends };
  for (const [backend, entries] of changed) {
    const before = Object.hasOwn(backends, backend) ? backends[backend] : {};
    backends[backend] = { ...before, ...Object.fromEntries(entries) };
  }
  return { ...pins, backends };
}

/** Whether the lists of a backend were seen, empty ones too, so that a new name of any kind is new. */
export function isKnown({ backends }: Pins, backend: string): boolean {
  return Object.hasOwn(backends, backend);
}
