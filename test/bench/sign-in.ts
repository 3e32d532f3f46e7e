// Sign-ins, token requests and refreshes per second of the authorization server, and their CPU time.
// A sign-in is the whole way of one client: registered before, then authorization request, sign-in page, consent page and code
// exchange, six requests. Each client has its own loopback address, because the server limits requests by network.
// Flags: --seconds N (default 5) for each row.
import { createHash, randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { MEASURED_CORE, startProcess } from './processes.ts';

const AT_ONCE = 16;
const REDIRECT = 'http://127.0.0.1:49152/callback';
const secondsAt = process.argv.indexOf('--seconds');
const SECONDS = secondsAt < 0 ? 5 : Number(process.argv[secondsAt + 1]);

await using server = await startProcess(MEASURED_CORE, 'sign-in-server.ts', []);
const { origin } = new URL(server.url);
let addresses = 0;
let client: Promise<string> | undefined;

await measured('sign-ins', signIn, SECONDS / 2); // warms up
await measured('sign-ins', signIn);
const families = await Promise.all(Array.from({ length: AT_ONCE }, signIn));
await measured('refreshes', async (slot) => {
  const family = families[slot] as Tokens;
  const answer = await post('/oauth/token', {
    grant_type: 'refresh_token',
    client_id: family.clientId,
    refresh_token: family.refresh,
  });
  families[slot] = { ...family, refresh: answer.refresh_token ?? '' };
});
const codes = await Promise.all(Array.from({ length: Math.min(600, 120 * SECONDS) }, authorized));
await measured('code exchanges', async () => {
  const next = codes.pop();
  if (next === undefined) return false;
  await exchanged(next);
});

interface Tokens {
  readonly clientId: string;
  readonly refresh: string;
}

interface Authorized {
  readonly clientId: string;
  readonly code: string;
  readonly verifier: string;
}

/** Runs `work` in 16 slots for a time, or until it returns `false`, and prints one row. */
async function measured(name: string, work: (slot: number) => Promise<unknown>, seconds = SECONDS): Promise<void> {
  const [startedMs, startedMicros] = [performance.now(), server.cpuMicros()];
  let count = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, slot) => {
      while (performance.now() - startedMs < seconds * 1000) {
        if ((await work(slot)) === false) break;
        count++;
      }
    }),
  );
  const tookMs = performance.now() - startedMs;
  const micros = (server.cpuMicros() - startedMicros) / count;
  const busy = (server.cpuMicros() - startedMicros) / (tookMs * 10);
  console.log(
    `${name}: ${Math.round((count * 1000) / tookMs)} per second, ${Math.round(micros)} µs of CPU each, core busy ${Math.round(busy)} %`,
  );
}

async function signIn(): Promise<Tokens> {
  return exchanged(await authorized());
}

async function exchanged({ clientId, code, verifier }: Authorized): Promise<Tokens> {
  const form = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: REDIRECT };
  const answer = await post('/oauth/token', { ...form, code, code_verifier: verifier });
  if (answer.refresh_token === undefined) throw new Error(`no tokens: ${JSON.stringify(answer)}`);
  return { clientId, refresh: answer.refresh_token };
}

async function authorized(): Promise<Authorized> {
  client ??= register();
  const clientId = await client;
  const localAddress = freshAddress();
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    state: 'state-of-client',
    resource: `${origin}/mcp`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookies = new Map<string, string>();
  let next = `${origin}/oauth/authorize?${query}`;
  while (!next.startsWith(REDIRECT)) {
    // a browser would leave out cookies of other paths; the server ignores them
    const cookie = [...cookies.values()].join('; ');
    const answer = await send(next, 'GET', cookie === '' ? {} : { cookie }, undefined, localAddress);
    answer.resume();
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    if (answer.headers.location === undefined) throw new Error(`status ${answer.statusCode} at ${next}`);
    next = new URL(answer.headers.location, next).href;
  }
  return { clientId, code: new URL(next).searchParams.get('code') ?? '', verifier };
}

async function register(): Promise<string> {
  const body = JSON.stringify({ client_name: 'bench', redirect_uris: [REDIRECT] });
  const answer = await json(
    await send(`${origin}/oauth/register`, 'POST', { 'content-type': 'application/json' }, body),
  );
  return answer.client_id ?? '';
}

async function post(path: string, form: Readonly<Record<string, string>>) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return json(await send(`${origin}${path}`, 'POST', type, new URLSearchParams(form).toString(), freshAddress()));
}

/** Every address of 127.0.0.0/8 is one of this machine; 60,000 are used in turn. */
function freshAddress(): string {
  addresses = (addresses + 1) % 60_000;
  return `127.9.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`;
}

function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
  localAddress = '127.0.0.1',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers, localAddress, agent: false }, resolve).on('error', reject).end(body);
  });
}

async function json(answer: IncomingMessage): Promise<Readonly<Record<string, string | undefined>>> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}
