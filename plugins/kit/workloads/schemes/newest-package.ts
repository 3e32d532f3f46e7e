import { explainCause, GatewayFault, isObject, parsedJson } from '@toolmgr/core';
import type { RemoteHttp } from '../../safe-http/remote-http.ts';
import { type Environment, npmRegistryOf, packageSettings } from './package-settings.ts';
import { isFloating, readScheme, type SchemeTarget } from './scheme-target.ts';
import { compareVersions } from './versions.ts';

/** The same package in its newest release, as a target; or a sentence part that says why there is none. */
export type NewestPackage = { readonly target: string } | { readonly problem: string };

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024; // the index of a package with thousands of releases
const MAX_PARENTS = 8;

const NPM = 'https://registry.npmjs.org';
const PYPI = 'https://pypi.org/simple';
const GO = 'https://proxy.golang.org';

/**
 * Asks the registry of a package for its newest release: the npm registry, a Python index (PEP 691) or a Go module proxy, each as
 * the settings of the user name it. Nothing is downloaded but the list of releases. A pre-release is never the newest.
 *
 * Source: decision 065; PEP 691 and 700; go.dev/ref/mod#goproxy-protocol.
 */
export async function newestPackage(text: string, env: Environment, signal: AbortSignal): Promise<NewestPackage> {
  const read = readScheme(text);
  if (read?.kind !== 'target') return { problem: `${text} is no package` };
  const { target } = read;
  if ('folder' in target) return { problem: 'the workload runs a folder of this machine' };
  if (isFloating(target)) return { problem: 'the workload names no fixed version: each start takes the newest' };
  const { createRemoteHttp } = await import('../../safe-http/remote-http.ts'); // only upgrades need undici
  const http = createRemoteHttp({
    ...{ allowHttp: true, allowPrivateAddresses: true, followsWithinOrigin: true }, // the user set the address
    ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
  });
  try {
    const version = await newestVersion(target, env, { http, signal });
    if (typeof version !== 'string') return version;
    const newest = text.replace(/(?<=[@=])[^@=]+$/, () => version);
    const checked = readScheme(newest); // the version is what a registry says
    if (checked?.kind !== 'target' || isFloating(checked.target))
      return { problem: 'its registry names a version that is none' };
    return { target: newest };
  } catch (cause) {
    if (signal.aborted || !(cause instanceof GatewayFault)) throw cause;
    return { problem: `its registry cannot be read: ${explainCause(cause)}` };
  } finally {
    await http.close();
  }
}

interface Asking {
  readonly http: RemoteHttp;
  readonly signal: AbortSignal;
}
type Problem = { readonly problem: string };
type Published = Exclude<SchemeTarget, { readonly folder: string }>;

function newestVersion(target: Published, env: Environment, asking: Asking): Promise<string | Problem> {
  if (target.scheme === 'npx') return npmVersion(target.name, env, asking);
  if (target.scheme === 'uvx') return pythonVersion(target.name, env, asking);
  return goVersion(target.package, env, asking);
}

async function npmVersion(name: string, env: Environment, asking: Asking): Promise<string | Problem> {
  const base = (await npmRegistryOf(name, env)) ?? NPM;
  // the short form of the document, which every registry has
  const headers = { accept: 'application/vnd.npm.install-v1+json, application/json;q=0.8' };
  const found = await ask(`${trimmed(base)}/${name.replace('/', '%2f')}`, headers, asking);
  if (found === undefined) return { problem: `its registry does not have ${name}` };
  const document = parsedJson(found);
  const tags = isObject(document) ? document['dist-tags'] : undefined;
  const latest = isObject(tags) ? tags.latest : undefined;
  return typeof latest === 'string' ? latest : { problem: `its registry names no latest version of ${name}` };
}

async function pythonVersion(name: string, env: Environment, asking: Asking): Promise<string | Problem> {
  const { UV_DEFAULT_INDEX: index = PYPI } = await packageSettings('uvx', env);
  const project = name.toLowerCase().replace(/[-_.]+/g, '-'); // PEP 503
  const headers = { accept: 'application/vnd.pypi.simple.v1+json' };
  const found = await ask(`${trimmed(index)}/${project}/`, headers, asking);
  if (found === undefined) return { problem: `its index does not have ${name}` };
  const document = parsedJson(found);
  if (!isObject(document) || !Array.isArray(document.files))
    return { problem: 'its index does not answer in JSON (PEP 691)' };
  const releases = document.files.flatMap((file) =>
    isObject(file) && !isYanked(file) ? releaseOf(file, project) : [],
  );
  return newestOf(releases) ?? { problem: `its index has no release of ${name}` };
}

function isYanked({ yanked }: Readonly<Record<string, unknown>>): boolean {
  return yanked !== undefined && yanked !== false;
}

// Both take linear time, whatever an index says. The name in a wheel has no hyphen (PEP 427).
const WHEEL = /^([^-]+)-(\d+(?:\.\d+)*)-.*\.whl$/;
const SOURCE_ARCHIVE = /^(.+)-(\d+(?:\.\d+)*)(?:\.tar\.gz|\.zip)$/;

/** The version in the name of a wheel or source archive. */
function releaseOf({ filename }: Readonly<Record<string, unknown>>, project: string): readonly string[] {
  if (typeof filename !== 'string') return [];
  const text = filename.toLowerCase();
  const [, name = '', version] = WHEEL.exec(text) ?? SOURCE_ARCHIVE.exec(text) ?? [];
  return version !== undefined && name.replace(/[-_.]+/g, '-') === project ? [version] : [];
}

async function goVersion(path: string, env: Environment, asking: Asking): Promise<string | Problem> {
  const { GOPROXY: proxies = GO, GOPRIVATE: own = '', GONOPROXY: direct = own } = await packageSettings('go', env);
  if (direct.split(',').some((pattern) => matchesModule(pattern.trim(), path)))
    return { problem: `${path} is private (GOPRIVATE): no proxy is asked for it` };
  const proxy = proxies.split(/[,|]/).find((each) => /^https?:\/\//.test(each.trim()));
  if (proxy === undefined) return { problem: 'GOPROXY names no proxy that lists versions' };
  const elements = path.split('/');
  // the module is the package or a folder above it
  for (let length = elements.length; length > 1 && elements.length - length < MAX_PARENTS; length--) {
    const module = elements
      .slice(0, length)
      .join('/')
      .replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);
    const found = await ask(`${trimmed(proxy.trim())}/${module}/@v/list`, {}, asking);
    if (found === undefined) continue;
    const releases = found
      .toString()
      .split('\n')
      .filter((line) => /^v\d+\.\d+\.\d+(\+incompatible)?$/.test(line));
    const newest = newestOf(releases);
    if (newest !== undefined) return newest;
  }
  return { problem: `the Go proxy has no release of ${path}` };
}

/** Whether a pattern of GOPRIVATE is for a path: globs for its first elements. */
function matchesModule(pattern: string, path: string): boolean {
  if (pattern === '') return false;
  const glob = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${glob}(/|$)`).test(path);
}

function newestOf(versions: readonly string[]): string | undefined {
  return versions.reduce<string | undefined>(
    (newest, version) => (newest === undefined || compareVersions(version, newest) > 0 ? version : newest),
    undefined,
  );
}

/** The body of a document; `undefined` when the registry does not have it. @throws GatewayFault otherwise */
async function ask(
  address: string,
  headers: Readonly<Record<string, string>>,
  { http, signal }: Asking,
): Promise<Buffer | undefined> {
  if (!URL.canParse(address)) throw new GatewayFault('REMOTE_REFUSED', 'the address in the settings is not a URL');
  const url = new URL(address);
  const login = url.username === '' ? undefined : decoded(`${url.username}:${url.password}`);
  url.username = '';
  url.password = '';
  const authorized =
    login === undefined ? headers : { ...headers, authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  const { status, body } = await http.send(url.href, { headers: authorized, signal });
  if (status === 404 || status === 410) return undefined;
  if (status !== 200) throw new GatewayFault('REMOTE_UNAVAILABLE', `${url.origin} answered with status ${status}`);
  return body;
}

/** A text without its percent-encoding, or as it is when that is damaged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function trimmed(base: string): string {
  return base.replace(/\/+$/, '');
}
