// `npm run pictures`: writes the pictures of terminals, pages and the documentation site into docs/pictures.
// Needs tmux, chromium and the rig `site`.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { freshPage, openBrowser } from '../../test/support/browser.ts';
import { takeManagerPictures } from '../page/take-pictures.ts';
import { buildSite } from '../site/build-site.ts';
import { serveSite } from '../site/serve-site.ts';
import { openTerminal } from './terminal.ts';
import { terminalPage } from './terminal-html.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/pictures');
const MAX_BYTES = 150_000;

await using browser = await openBrowser();

/** `up` with three servers, one of which cannot start, then `status` and a call in a second terminal. */
async function terminals(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'toolmgr-pictures-'));
  try {
    const project = join(home, 'project');
    for (const folder of ['bin', 'project', 'run']) mkdirSync(join(home, folder), { mode: 0o700 });
    const program = join(home, 'bin/toolmgr');
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, 'hosts/bin/toolmgr.js')} "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: SERVERS }));
    const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}`, XDG_RUNTIME_DIR: join(home, 'run') };
    const port = await getPort();
    const at = { cwd: project, env, columns: 104 };
    using first = openTerminal('up', { ...at, rows: 30 });
    first.enter(`clear; toolmgr up .mcp.json --port ${port}`);
    await first.until(/files.*unavailable/);
    await first.until(/everything/);
    await settle();
    await picture('terminal-up', 'toolmgr up', first.screen());
    using second = openTerminal('status', { ...at, rows: 26 });
    second.enter('clear; toolmgr status');
    await second.until(/memory/);
    await settle();
    second.enter(`toolmgr call everything_get-sum a=1 b=2 --url http://127.0.0.1:${port}/mcp`);
    await second.until(/is 3/);
    await picture('terminal-status', 'toolmgr status', second.screen());
    await webPage('gateway-page', `http://127.0.0.1:${port}/`, 'everything');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The start page of the documentation. */
async function site(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-pictures-site-'));
  try {
    await buildSite(folder);
    const { url, server: listener } = await serveSite(folder, 0);
    await webPage('site', url, 'toolmgr');
    listener.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A page in the browser, once it shows a text. */
async function webPage(name: string, url: string, shown: string): Promise<void> {
  const page = await freshPage(browser, { viewport: { width: 1100, height: 720 } });
  await page.goto(url);
  await page.getByText(shown).first().waitFor();
  await settle();
  await keep(name, await page.screenshot());
  await page.context().close();
}

const server = (name: string) => ({
  command: process.execPath,
  args: [join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)],
});

const SERVERS = {
  everything: server('everything'),
  memory: server('memory'),
  files: { command: 'files-server-that-is-not-installed' },
};

/** Output that comes in several pieces is complete after this time. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 2_000));

async function picture(name: string, title: string, screen: string): Promise<void> {
  const page = await freshPage(browser, { viewport: { width: 1100, height: 700 }, deviceScaleFactor: 1.5 });
  await page.setContent(terminalPage(title, screen));
  await keep(name, await page.locator('figure').screenshot());
  await page.context().close();
}

async function keep(name: string, png: Buffer): Promise<void> {
  const file = join(FOLDER, `${name}.png`);
  writeFileSync(file, png);
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes; a picture has at most ${MAX_BYTES}`);
  console.log(`docs/pictures/${name}.png: ${Math.round(size / 1000)} kB`);
}

if (!process.argv.includes('--only-terminal')) await takeManagerPictures(browser, FOLDER);
await terminals();
if (!process.argv.includes('--only-terminal')) await site();
