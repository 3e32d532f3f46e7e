import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cli, startCli } from '../../support/cli.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const SUPPORT = join(import.meta.dirname, '..', '..', 'support');
const MEGABYTE = 1_048_576;

describe('V8 in a host', () => {
  it(
    'keeps the young generation small while a gateway starts, and allows it to grow to a limit for calls',
    async () => {
      const script = join(SUPPORT, 'busy-engine.ts');
      const [starting, settled] = await Promise.all([cli(['starting'], { script }), cli(['settled'], { script })]);
      expect(Number(starting.out)).toBeGreaterThan(0);
      expect(Number(starting.out)).toBeLessThanOrEqual(8 * MEGABYTE);
      expect(Number(settled.out)).toBeGreaterThanOrEqual(16 * MEGABYTE);
      expect(Number(settled.out)).toBeLessThanOrEqual(64 * MEGABYTE);
    },
    LONG,
  );

  it(
    'collects the garbage of a large task once, when the process is idle',
    async () => {
      const { out } = await cli([], { script: join(SUPPORT, 'quiet-engine.ts') });
      const { before, after, later } = JSON.parse(out) as { before: number; after: number; later: number };
      expect(before).toBeGreaterThan(40 * MEGABYTE);
      expect(after).toBeLessThan(before / 2);
      expect(later).toBe(0);
    },
    LONG,
  );

  it(
    'is set up for calls by vmcp serve once its backends have answered',
    async () => {
      const folder = temporaryFolder('engine');
      await using far = await recordingServer();
      const file = await writeVmcpFile(folder, { far: far.url });
      const noting = pathToFileURL(join(SUPPORT, 'note-engine-flags.ts')).href;
      {
        // bounded, because reading TypeScript may already have grown it to the size that is wanted
        const env = { NODE_OPTIONS: `--max-semi-space-size=8 --import=${noting}` };
        await using running = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env });
        await running.printed(/engine flag --semi-space-growth-factor=2/);
        expect(running.err()).toMatch(/growth-factor=1.*serves http.*growth-factor=2/s);
      }
    },
    LONG,
  );
});
