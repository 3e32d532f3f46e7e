import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../hosts/cli/main.ts';
import { cli } from '../../support/cli.ts';
import { SOURCE_PROGRAM } from '../../support/program.ts';

const LONG = 120_000;
const NOTING = pathToFileURL(join(import.meta.dirname, '../../support/note-modules.ts')).href;

/** The modules that a command line loads, as parts of URLs. */
async function loadedBy(...args: readonly string[]): Promise<readonly string[]> {
  const { err } = await cli(args, { script: SOURCE_PROGRAM, env: { NODE_OPTIONS: `--import=${NOTING}` } });
  return [...err.matchAll(/^module (file:.*)$/gm)].map(([, url = '']) => url);
}

const wordsOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];

describe('a command line loads only what it needs', () => {
  it('and its first word gets the same command as in the whole program', async () => {
    const whole = await createProgram();
    for (const command of whole.commands) {
      for (const word of wordsOf(command)) {
        const { commands } = await createProgram(word);
        const found = commands.find((one) => wordsOf(one).includes(word));
        expect(found?.helpInformation(), word).toBe(command.helpInformation());
        expect(commands.length, word).toBeLessThan(whole.commands.length);
      }
    }
    expect((await createProgram('unknown')).commands).toHaveLength(whole.commands.length);
  });

  it(
    'the version needs neither the core nor its packages',
    async () => {
      const loaded = await loadedBy('--version');
      expect(loaded.filter((url) => url.includes('/hosts/cli/main.ts'))).toHaveLength(1); // loads are recorded
      expect(loaded.filter((url) => /\/(?:core|plugins)\/|node_modules\/(?!commander\/)/.test(url))).toEqual([]);
      expect(loaded.length).toBeLessThan(40);
    },
    LONG,
  );
});
