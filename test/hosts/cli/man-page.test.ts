import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { commandPages } from '../../../scripts/docs/commands-page.ts';
import { manPage, roff } from '../../../scripts/docs/man-page.ts';

it('the manual page has every command and exit code', async () => {
  const page = (await manPage()) ?? '';
  for (const name of ['up', 'status', 'wait', 'doctor', 'vmcp serve', 'tools preflight', 'skill install']) {
    expect(page).toContain(`.SS toolmgr ${name}\n`);
  }
  expect(page).not.toContain('toolmgr complete\n');
  expect(page).toContain('.SH EXIT STATUS\n.TP\n.B 0\n');
});

it('the pages of commands leave out hidden commands', async () => {
  const pages = (await commandPages()).map(([, text]) => text).join('');
  expect(pages).toContain('## toolmgr completion\n');
  expect(pages).not.toMatch(/toolmgr complete\b/);
});

it('text cannot become a request or an escape', () => {
  expect(roff('.so /etc/passwd')).toBe('\\&.so /etc/passwd');
  expect(roff("'x \\n --all")).toBe("\\&'x \\en \\-\\-all");
});

it.skipIf(!process.env.CI && spawnSync('groff', ['--version']).error !== undefined)(
  'groff formats it without a warning',
  async () => {
    const input = (await manPage()) ?? '';
    const ran = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], { input, encoding: 'utf8' });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
  },
);
