import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { ANOTHER_PROGRAM, portOwner } from '../../shared/running/port-owner.ts';
import { type Check, type Finding, fail, ok, skipped, warn } from './checks.ts';

const { request } = process.getBuiltinModule('node:https');

/** Ports that commands use unless told otherwise. */
const PORTS = [{ port: 4483, of: 'up, vmcp serve and start', flag: '--port' }] as const;

/** Ports, proxy variables, certificates and the clock. */
export function networkChecks(env: NodeJS.ProcessEnv): readonly Check[] {
  return [
    ...PORTS.map(({ port, of, flag }) => ({ name: `port ${port}`, run: () => portFinding(port, of, flag) })),
    { name: 'proxy', run: async () => proxyFindings(env) },
    { name: 'certificates', run: () => certificateFinding(env) },
    { name: 'clock', run: (signal) => clockFinding(env, signal) },
  ];
}

/** Who has a port of loopback. A connection is made and closed at once. */
export async function portFinding(port: number, of: string, flag: string): Promise<Finding> {
  const isTaken = await new Promise<boolean>((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PORT_MS, end(true)).once('connect', end(true)).once('error', end(false));
  });
  if (!isTaken) return ok(`free; ${of} use it by default`);
  const { who, advice } = await portOwner(port);
  if (who !== ANOTHER_PROGRAM) return ok(`in use by ${who}`);
  return warn(`in use by ${who}; ${of} use it by default`, `${advice}, or choose another port with ${flag}`);
}

const PORT_MS = 1_000;

/** Proxy variables, without passwords. Pure. */
export function proxyFindings(env: NodeJS.ProcessEnv): readonly Finding[] {
  const set = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => {
    const used = [name.toLowerCase(), name].find((one) => env[one]);
    return used === undefined ? [] : [{ name: used, value: env[used] ?? '' }];
  });
  if (set.length === 0) return [ok('no proxy variable is set')];
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? '';
  return set.map(({ name, value }) => {
    const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
    if (!URL.canParse(url)) return fail(`${name} is not a URL`, `set ${name} to a URL such as http://proxy:3128`);
    const { protocol, host, username, password } = new URL(url);
    const shown = `${protocol}//${username + password === '' ? '' : '***@'}${host}`;
    return /(^|,)\s*(\*|localhost|127\.0\.0\.1)\s*(,|$)/.test(noProxy)
      ? ok(`${name} is ${shown}`)
      : warn(`${name} is ${shown}, but NO_PROXY does not include this machine`, 'set NO_PROXY=localhost,127.0.0.1');
  });
}

/** Whether `NODE_EXTRA_CA_CERTS` can be read: Node only warns, and connections fail later. */
export async function certificateFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  const { NODE_EXTRA_CA_CERTS: file } = env;
  if (!file) return ok("NODE_EXTRA_CA_CERTS is not set; Node's own authorities are used");
  const fix = 'correct the path in NODE_EXTRA_CA_CERTS, or unset it';
  try {
    const pem = await readFile(file, 'utf8');
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) return fail(`${file} contains no PEM certificate`, fix);
    const old = blocks.filter((block) => new X509Certificate(block).validToDate.getTime() < Date.now());
    if (old.length > 0)
      return warn(
        `${file}: ${old.length} of ${blocks.length} certificates have expired`,
        'replace the expired certificates',
      );
    return ok(`${file} contains ${blocks.length} ${blocks.length === 1 ? 'certificate' : 'certificates'}`);
  } catch (cause) {
    return fail(`${file} cannot be used: ${(cause as Error).message}`, fix);
  }
}

/** Compares the clock with the Date header of the npm registry. */
async function clockFinding(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Finding> {
  const registry = env.npm_config_registry ?? DEFAULT_REGISTRY;
  if (!registry.startsWith('https://')) return skipped('not compared: the URL of the npm registry is not https');
  const date = await new Promise<string | undefined>((resolve) => {
    const asked = request(registry, { method: 'HEAD', signal, timeout: CLOCK_MS }, (response) => {
      response.resume();
      resolve(response.headers.date);
    });
    asked.on('timeout', () => asked.destroy()).on('error', () => resolve(undefined));
    asked.end();
  });
  return date === undefined
    ? skipped('not compared: the npm registry did not answer')
    : clockDifference(Date.parse(date), Date.now());
}

/** Judges the difference of two clocks in epoch milliseconds. Pure. */
export function clockDifference(theirsMs: number, oursMs: number): Finding {
  const seconds = Math.round(Math.abs(oursMs - theirsMs) / 1000);
  if (!Number.isFinite(seconds)) return skipped('not compared: the answer has no date');
  return seconds <= MAX_SECONDS
    ? ok(`differs from network time by ${seconds} s`)
    : fail(`differs from network time by ${seconds} s, so tokens and certificates are refused`, 'set the clock (NTP)');
}

const DEFAULT_REGISTRY = 'https://registry.npmjs.org/';
const CLOCK_MS = 2_500;
const MAX_SECONDS = 30; // usual tolerance of token checks
