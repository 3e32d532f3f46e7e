import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, it as test } from 'vitest';
import { PROGRAM } from '../../../support/program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..', '..', '..', '..');
const SERVER = join(import.meta.dirname, 'fixtures', 'noisy-server.ts');
const it = process.env.CI || hasTmux() ? test : test.skip;

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** `toolmgr up` with these servers on a terminal of its own. */
async function upOnTerminal(servers: Readonly<Record<string, readonly string[]>>, size: Size, env = {}) {
  const folder = temporaryFolder('terminal');
  const entries = Object.entries(servers).map(([name, args]) => {
    return [name, { command: process.execPath, args: [SERVER, ...args, folder] }];
  });
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: Object.fromEntries(entries) }));
  const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, ...rest } = process.env;
  const own = { ...rest, HOME: folder, TOOLMGR_STATE_DIR: join(folder, 'state'), LC_ALL: 'C.UTF-8' };
  const socket = join(folder, 'tmux.sock');
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-u', '-S', socket, ...args], { env: { ...own, ...env } })).stdout;
  const line = `trap : INT; '${process.execPath}' --conditions=development '${PROGRAM}' up '${folder}/mcp.json' --port 0; printf 'ended\\n'; exec cat`;
  const sized = ['-x', String(size.columns), '-y', String(size.rows)];
  await tmux('-f', '/dev/null', 'new-session', '-d', ...sized, '-c', ROOT, `sh -c "${line.replaceAll('"', '\\"')}"`);
  onTestFinished(async () => {
    await tmux('kill-server').catch(() => {});
  });
  return {
    tmux,
    /** Lets servers answer that wait for it. */
    go: () => writeFileSync(join(folder, 'go'), ''),
    screen: () => tmux('capture-pane', '-p'),
    coloured: () => tmux('capture-pane', '-p', '-e'),
    /** Everything that was shown, wrapped lines joined. */
    all: () => tmux('capture-pane', '-p', '-J', '-S', '-'),
    isCursorShown: async () => (await tmux('display-message', '-p', '#{cursor_flag}')).trim() === '1',
  };
}

const WAIT = { timeout: 40_000, interval: 100 };
const SPINNING = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

describe('up on a terminal', { timeout: 100_000 }, () => {
  it('shows one live line per backend, whatever programs print, and the cursor after Ctrl-C', async () => {
    const servers = { quick: ['ok'], waits: ['wait'], broken: ['crash'], flood: ['flood'] };
    const up = await upOnTerminal(servers, { columns: 60, rows: 20 });
    await expect
      .poll(up.screen, WAIT)
      .toMatch(/✖ broken .*exit code 7\n.*✔ quick +ready, 1 tool\n.* waits +starting, /s);
    expect(await up.isCursorShown()).toBe(false);
    expect(await up.tmux('display-message', '-p', '#{pane_title}')).not.toContain('hostile');

    await up.tmux('resize-window', '-x', '20', '-y', '8');
    await expect.poll(up.screen, WAIT).toMatch(/waits +starting,?…\n/); // more fits once longer names are ready
    await up.tmux('resize-window', '-x', '80', '-y', '30');
    // a picture may be taken while the line is written again
    const lines = async () => (await up.screen()).match(/waits.*/g);
    await expect.poll(lines, WAIT).toEqual([expect.stringMatching(/^waits +starting, \d+ s$/)]);

    up.go();
    await expect.poll(up.all, WAIT).toMatch(/toolmgr serves.*waits {2}ready, 1 tool.*Ctrl-C stops/s);
    await expect.poll(up.screen, WAIT).not.toMatch(SPINNING);
    const all = await up.all();
    expect(all).toMatch(/broken {2}unavailable: ended with exit code 7\n(?: {4}.*\n)? {4}last words\n/);
    expect(all.match(/last words/g)).toHaveLength(1);
    expect(all.match(/(?:unavailable|process ended): .*exit code 7/g)).toHaveLength(1); // live lines have another form
    await up.tmux('send-keys', 'C-c');
    await expect.poll(up.all, WAIT).toMatch(/stopping.*ended/s);
    expect(await up.isCursorShown()).toBe(true);
  });

  it('shows the cursor after Ctrl-C while a backend starts, and no colours with NO_COLOR', async () => {
    const up = await upOnTerminal({ waits: ['wait'] }, { columns: 40, rows: 10 }, { NO_COLOR: '1' });
    await expect.poll(up.screen, WAIT).toMatch(/waits {2}starting, /);
    expect(await up.coloured()).not.toContain('\u001b[');
    await up.tmux('send-keys', 'C-c');
    await expect.poll(up.screen, WAIT).toMatch(/ended/);
    expect(await up.screen()).not.toMatch(SPINNING);
    expect(await up.isCursorShown()).toBe(true);
  });

  it('prints plain lines in CI', async () => {
    const up = await upOnTerminal({ waits: ['wait'] }, { columns: 60, rows: 20 }, { CI: 'true' });
    await expect.poll(up.screen, WAIT).toMatch(/^still starting: waits \(\d+ s\)\n/m);
    expect(await up.isCursorShown()).toBe(true);
    up.go();
    await expect.poll(up.all, WAIT).toMatch(/toolmgr serves/);
    expect(await up.all()).not.toMatch(SPINNING);
  });
});
