import { spawnSync } from 'node:child_process';
import { chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_TYPES } from '@toolmgr/plugins/clients';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Entry } from '../../../plugins/clients/entry.ts';
import { maskedDiff } from '../../../plugins/clients/registration/masked-diff.ts';
import { planEntries } from '../../../plugins/clients/registration/plan-entries.ts';
import { syncClient } from '../../../plugins/clients/registration/sync-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let home: string;
beforeEach(() => {
  home = temporaryFolder('clients-attack');
});

const places = () => ({
  state: join(home, 'state'),
  user: { platform: 'linux', home, env: {} } as const,
  nowMs: Date.now,
});
const entry = (name: string): Entry => ({ name, url: 'http://127.0.0.1:1/mcp', transport: 'streamable-http' });
const isRoot = process.getuid?.() === 0;

it('a JSON file that is nested too deeply is refused like any other fault', async () => {
  await mkdir(join(home, '.kimi'));
  await writeFile(join(home, '.kimi/mcp.json'), `{"mcpServers":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
  await expect(syncClient(places(), 'kimi-cli', [entry('a')])).rejects.toThrow('nested too deeply');
});

describe('files of other users', () => {
  it.skipIf(!isRoot)('are not changed through a link, nor read into an answer', async () => {
    const victim = join(home, 'victim.json');
    await writeFile(victim, '{"token":"secret-value"}');
    await mkdir(join(home, '.kimi'));
    await symlink(victim, join(home, '.kimi/mcp.json'));
    await chown(victim, 65_534, 65_534);
    await expect(syncClient(places(), 'kimi-cli', [entry('a')])).rejects.toThrow('link to a file of another user');
    expect(await readFile(victim, 'utf8')).toBe('{"token":"secret-value"}');
  });

  it('a folder that every user can change is refused', async () => {
    await mkdir(join(home, '.kimi'));
    spawnSync('chmod', ['777', join(home, '.kimi')]);
    await expect(syncClient(places(), 'kimi-cli', [entry('a')])).rejects.toThrow('can be changed by every user');
    expect(await readdir(join(home, '.kimi'))).toEqual([]);
  });

  it.each(['/dev/zero', '/etc'])('a link to %s is refused', async (target) => {
    await mkdir(join(home, '.kimi'));
    await symlink(target, join(home, '.kimi/mcp.json'));
    await expect(syncClient(places(), 'kimi-cli', [entry('a')])).rejects.toThrow(
      /not a regular file|cannot be read|another user/,
    );
  });

  it('a link in a circle, and one to nothing, are refused', async () => {
    await mkdir(join(home, '.kimi'));
    await symlink('mcp.json', join(home, '.kimi/mcp.json'));
    await expect(syncClient(places(), 'kimi-cli', [entry('a')])).rejects.toThrow('cannot be followed (ELOOP)');
    await mkdir(join(home, '.factory'));
    await symlink('/nonexistent/x', join(home, '.factory/mcp.json'));
    await expect(syncClient(places(), 'factory', [entry('a')])).rejects.toThrow('does not exist');
  });
});

describe('names and texts that look like something else', () => {
  const names = [
    '__proto__',
    'constructor',
    'a/b',
    'a~1b',
    '"}',
    '\u0000',
    '\u007f\u2028',
    '[x]',
    "']]",
    'a\nb = 1',
    '...',
    '---',
    '&a',
    '!!js',
    '%YAML',
    '?',
    '\ud800',
  ];

  it.each(CLIENT_TYPES)('never change another part of the file of %s', (type) => {
    for (const name of names) {
      const plan = planEntries(type, '', [entry(name)], undefined, {});
      // a name that a format cannot hold is refused
      if ('fault' in plan) continue;
      expect(plan.added).toEqual([name]);
      const again = planEntries(type, plan.text, [], { entries: toRecord(plan.entries), made: plan.made }, {});
      if ('fault' in again) throw new Error(again.fault);
      expect([name, again.text]).toEqual([name, '']);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>).url).toBeUndefined();
  });

  /** A record as JSON gives it: `__proto__` is a member like any other. */
  function toRecord(entries: Readonly<Record<string, string[]>>): Record<string, string[]> {
    return JSON.parse(JSON.stringify(entries));
  }

  it('text in strings and comments is not taken for a place', () => {
    const toml =
      'a = """\n[mcp_servers.x]\nurl = "u"\n"""\n# [mcp_servers.x]\n[mcp_servers.x]\nurl = "http://127.0.0.1:1/mcp"\n';
    const record = { entries: { x: ['{"url":"http://127.0.0.1:1/mcp"}'] }, made: {} };
    const plan = planEntries('codex', toml, [], record, {});
    if ('fault' in plan) throw new Error(plan.fault);
    expect(plan.text).toBe('a = """\n[mcp_servers.x]\nurl = "u"\n"""\n# [mcp_servers.x]\n');
  });

  it.each([
    ['two members of the name', 'cursor', '{"mcpServers":{},"mcpServers":{"a":1}}'],
    ['another shape', 'cursor', '{"mcpServers":[]}'],
    ['a list', 'cursor', '[]'],
    ['an alias', 'goose', 'x: &a {b: 1}\nextensions: *a\n'],
    ['several documents', 'goose', 'a: 1\n---\nextensions: {}\n'],
    [
      'many references',
      'goose',
      `a: &a [1]\n${Array.from(
        { length: 9 },
        (_, i) =>
          `b${i}: &b${i} [${Array(9)
            .fill(i === 0 ? '*a' : `*b${i - 1}`)
            .join(',')}]`,
      ).join('\n')}\n`,
    ],
    ['a deep text', 'cursor', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ] as const)('a file with %s is refused or kept whole', (_, type, text) => {
    let plan: ReturnType<typeof planEntries>;
    try {
      plan = planEntries(type, text, [entry('n')], undefined, {});
    } catch (cause) {
      expect(cause).toBeInstanceOf(RangeError);
      return;
    }
    if ('fault' in plan) expect(plan.fault).not.toContain('secret');
    else expect(plan.text).toContain(text.slice(0, -1));
  });
});

describe('secrets of the user', () => {
  it('are in no diff, whatever line they are on', async () => {
    const secret = 'secret-value';
    for (const type of CLIENT_TYPES) {
      const folder = join(import.meta.dirname, 'files');
      const file = (await readdir(folder)).find((name) => name.startsWith(`${type}.`)) ?? '';
      const text = (await readFile(join(folder, file), 'utf8'))
        .replace(/^\uFEFF/, '')
        .replace(/(["'])(https?:|npx|uvx|node|docker|mcp-)[^"']*\1/g, `$1${secret}$1`)
        .replace(/\/\/ .*|# .*/g, (comment) => `${comment.slice(0, 2)} ${secret}`);
      const plan = planEntries(type, text, [entry('n')], undefined, {});
      if ('fault' in plan) continue;
      const diff = maskedDiff('file', text, plan.text, plan.own);
      expect(diff).not.toContain(secret);
      // a file of one line is masked as a whole
      if (text.split('\n').length > 3) expect(diff).toContain('http://127.0.0.1:1/mcp');
    }
  });

  it('show a comma that is added after them', () => {
    const diff = maskedDiff('file', '{\n  "a": "x,"\n}', '{\n  "a": "x,",\n  "b": 1\n}', new Set());
    expect(diff).toContain('-  "a": …\n+  "a": …,\n+  "b": …\n');
  });

  it('stay in backups that only the user can read', async () => {
    await mkdir(join(home, '.kimi'));
    await writeFile(join(home, '.kimi/mcp.json'), '{"a":"secret-value"}', { mode: 0o644 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await syncClient(places(), 'kimi-cli', [entry(name)]);
    const backups = (await readdir(join(home, '.kimi'))).filter((name) => name.includes('backup'));
    expect(backups).toHaveLength(3);
    for (const name of backups) expect((await stat(join(home, '.kimi', name))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(home, '.kimi', backups.sort()[0] ?? ''), 'utf8')).toBe('{"a":"secret-value"}');
  });
});
