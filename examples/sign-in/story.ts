// A person signs in once at their company. Two backends behind one gateway want different tokens of this person; the account for the
// second is connected when a call needs it. The audit log names the person.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { serve } from '../two-callers/served.ts';
import { auditTrail } from '../two-callers/trail.ts';
import { backendOf } from './backend.ts';
import { openBrowser } from './browser.ts';
import { signInAndConnect } from './client.ts';
import { identityProvider } from './provider.ts';

const CLIENT_ID = 'toolmgr'; // as in vmcp.yaml
const CONNECT_FIRST = -32042; // MCP 2025-11-25: the person has to open a link

await using scratch = await scratchFolder();
const port = await freePort();
const gateway = `http://127.0.0.1:${port}`;
const secrets = { COMPANY_CLIENT_SECRET: newSecret(), CALENDAR_CLIENT_SECRET: newSecret() };
const redirectUri = `${gateway}/mcp/oauth/callback`;
await using company = await identityProvider(
  { sub: 'ada', name: 'Ada Lovelace' },
  { id: CLIENT_ID, secret: secrets.COMPANY_CLIENT_SECRET, redirectUri },
);
await using calendar = await identityProvider(
  { sub: 'countess@calendar', name: 'Ada' },
  { id: CLIENT_ID, secret: secrets.CALENDAR_CLIENT_SECRET, redirectUri },
);
await using notesBackend = await backendOf(company.issuer);
await using calendarBackend = await backendOf(calendar.issuer);
await writeKeys();
await using served = await serve(await localCopy(join(import.meta.dirname, 'vmcp.yaml')), { port, env: secrets });
await using browser = await openBrowser();

const pages: Promise<string>[] = [];
await using signedIn = await signInAndConnect(served.endpoint, async (url) => {
  pages.push(browser.open(url.href, 'Allow'));
});
const [page] = await Promise.all(pages);
assert.match(page ?? '', /the client has its code/, 'the browser comes back to the client');
const claims = JSON.parse(Buffer.from(signedIn.accessToken.split('.')[1] ?? '', 'base64url').toString());
assert.equal(claims.iss, gateway, 'the token is one of the gateway');
assert.equal(claims.name, 'Ada Lovelace');
console.log(`\nsigned in with ${browser.kind}: ${claims.name}, at the company`);

const onNotes = await call('notes_whoami');
assert.equal(onNotes, 'Ada Lovelace (ada)');
const link = await linkOf('calendar_whoami');
console.log(`calendar_whoami needs a connection: ${link.replace(/ticket=.*/, 'ticket=…')}`);
assert.match(await browser.open(link, 'Connect calendar'), /calendar is connected/);
const onCalendar = await call('calendar_whoami');
assert.equal(onCalendar, 'Ada (countess@calendar)');
console.log(`notes sees     ${onNotes}\ncalendar sees  ${onCalendar}`);

await signedIn.client.close();
await served.stop(); // flushes the audit trail
const auditFile = join(scratch.path, 'audit.log');
const trail = await auditTrail(auditFile);
console.log(['\naudit', ...trail.map((line) => `  ${line}`)].join('\n'));
assert.equal(trail.length, 3);
assert.equal(trail[0], 'Ada Lovelace | notes_whoami | success');
assert.match(trail[1] ?? '', /^Ada Lovelace \| calendar_whoami \| (?!success)/, 'the call that needed a connection');
assert.equal(trail[2], 'Ada Lovelace | calendar_whoami | success');
const everything = await readFile(auditFile, 'utf8');
for (const secret of [...Object.values(secrets), signedIn.accessToken]) assert.ok(!everything.includes(secret));
console.log('sign-in: one sign-in, two backends, two accounts of one person');

/** The text that a tool answers. */
async function call(name: string): Promise<string> {
  const { content, isError } = (await signedIn.client.callTool({ name, arguments: {} })) as CallToolResult;
  const text = content[0]?.type === 'text' ? content[0].text : '';
  assert.ok(isError !== true, `${name}: ${text}`);
  return text;
}

/** The link that a call answers, because the account for its backend is not connected. */
async function linkOf(name: string): Promise<string> {
  const cause: unknown = await signedIn.client.callTool({ name, arguments: {} }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { code, data } = (cause ?? {}) as {
    readonly code?: number;
    readonly data?: { readonly elicitations?: readonly { readonly url: string }[] };
  };
  const url = data?.elicitations?.[0]?.url;
  if (code !== CONNECT_FIRST || url === undefined) throw new Error(`${name}: expected a link, got ${String(cause)}`);
  return url;
}

async function writeKeys(): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(scratch.path, 'signing.pem'), pem, { mode: 0o600 });
  await writeFile(join(scratch.path, 'hmac.bin'), randomBytes(32), { mode: 0o600 });
}

/** Writes a copy of the vmcp file with the addresses of this run. */
async function localCopy(file: string): Promise<string> {
  const addresses: Readonly<Record<string, string>> = {
    'http://127.0.0.1:9410': gateway,
    'http://127.0.0.1:9411': company.issuer,
    'http://127.0.0.1:9412': calendar.issuer,
    'http://127.0.0.1:9413/mcp': notesBackend.url,
    'http://127.0.0.1:9414/mcp': calendarBackend.url,
    '/tmp/sign-in': scratch.path,
  };
  let text = await readFile(file, 'utf8');
  for (const [written, here] of Object.entries(addresses)) text = text.replaceAll(written, here);
  const copy = join(scratch.path, 'vmcp.yaml');
  await writeFile(copy, text);
  return copy;
}

/** The issuer is in the file, so the port is chosen before the gateway listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return free;
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

async function scratchFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'toolmgr-sign-in-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
