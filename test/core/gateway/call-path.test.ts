import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../scripts/docs/pages.ts';
import type { CallPath } from '../../bench/call-path.ts';
import { withNotes } from '../../support/note-calls.ts';

/** Of the core, of hosts/http, and of the two plugins that every plan has. Two more than measured. */
const MOST_FILES = 72;
/** The HTTP client reports the response of a backend to the transport by callbacks: these and no other. */
const CALLS_UP = /^core\/http1\/connection\.ts:\S* -> core\/backend\/transports\/http-answer\.ts:\S+$/;
const MOST_CALLS_UP = 3;

const program = [
  '--conditions=development',
  '--disable-warning=ExperimentalWarning',
  ...['--import', './test/support/note-calls.ts'],
  ...['test/bench/call-path.ts', '--json'],
];

describe('one tools/call', () => {
  it('goes down through the layers and does not go back up, between clients and backends of both eras', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: ROOT, timeout: 60_000 });
    const paths = JSON.parse(stdout) as readonly CallPath[];
    expect(paths).toHaveLength(4);
    for (const { client, backend, files, down, up } of paths) {
      const cell = `client ${client}, backend ${backend}: ${files.length} files, ${down.length} hops down`;
      expect(files.length, cell).toBeLessThanOrEqual(MOST_FILES);
      expect(
        up.filter((call) => !CALLS_UP.test(call)),
        cell,
      ).toEqual([]);
      expect(up.length, cell).toBeLessThanOrEqual(MOST_CALLS_UP);
      expect(files, cell).toEqual(expect.arrayContaining(ALWAYS_PASSED));
      expect(
        files.filter((file) => file.startsWith('core/gateway/')),
        cell,
      ).toEqual([]);
    }
  });
});

/** Without these nothing was measured. */
const ALWAYS_PASSED = [
  'core/server/endpoint.ts',
  'core/server/reloadable-service.ts',
  'core/pipeline/gateway-service.ts',
  'core/pipeline/perform.ts',
  'core/backend/send.ts',
];

describe('the notes of a source', () => {
  it('are made at the start of each function, of whatever kind', () => {
    const source = 'function a() { return 1; }\nconst b = (x) => ({ x });\nclass C { get d() { return 2; } }';
    expect(withNotes(source)).toBe(
      'function a() {noteCall(); return 1; }\nconst b = (x) => ((noteCall(),{ x }));\nclass C { get d() {noteCall(); return 2; } }',
    );
  });
});
