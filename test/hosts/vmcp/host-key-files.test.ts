import { describe, expect, it } from 'vitest';
import { HOST_KEYS } from '../../../hosts/vmcp/host-keys.ts';
import { readTree } from '../../support/tree.ts';

/** Where keys of the host are declared, read, checked, planned, written into objects and described. They take effect in `serve`. */
const CARRIERS =
  /^(?:hosts\/vmcp\/(?!serve\/)|hosts\/operator\/(?!controllers\/)|hosts\/cli\/vmcp\/|scripts\/docs\/(?!vmcp\/examples)).*\.ts$/;

/** A new key is a row of the table, and one file reads it where it is more than a member of the plan. */
const AIM = 2;

/** How many files name an older key, also where it is a member of a kind. A number that falls is written down, and none rises. */
const FILES_OF_KEYS: Readonly<Record<string, number>> = {
  groupRef: 19,
  compositeToolRefs: 3,
  passthroughHeaders: 3,
  statusPages: 9,
  incomingAuth: 20,
  outgoingAuth: 23,
};

const carriers = [...readTree()]
  .filter(([path]) => CARRIERS.test(path))
  .map(([, text]) => new Set(text.match(/[A-Za-z_]\w*/g)));

/** Keys that name nothing else: `name` and `limits` are words of many things. */
const keys = Object.keys(HOST_KEYS).filter((key) => /[a-z][A-Z]/.test(key));

const named = Object.fromEntries(keys.map((key) => [key, carriers.filter((words) => words.has(key)).length]));

describe('a key of a vmcp file that the host reads', () => {
  it('is named by no more source files than before, and a new one by two', () => {
    expect(carriers.length).toBeGreaterThan(100);
    const above = Object.entries(named).filter(([key, files]) => files > (FILES_OF_KEYS[key] ?? AIM));
    expect(above).toEqual([]);
  });

  it('has a lower figure in the record where fewer files name it', () => {
    const recorded = Object.entries(FILES_OF_KEYS).filter(([key, files]) => files > Math.max(named[key] ?? 0, AIM));
    expect(recorded).toEqual([]);
  });
});
