import type { Environment } from '../../contract/environment.ts';

/** Needed by every program. */
const BASICS = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TERM', 'SHELL', 'TMPDIR', 'TEMP', 'TMP', 'TZ'] as const;
/** Needed to start programs on Windows. */
const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'PROCESSOR_ARCHITECTURE'],
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROGRAMDATA', 'APPDATA', 'LOCALAPPDATA'],
  ...['USERNAME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH'],
  'NODEFAULTCURRENTDIRECTORYINEXEPATH',
] as const;
/** Network settings and trusted certificates. */
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'] as const;
const CERTIFICATES = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_USE_ENV_PROXY',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
] as const;
/** Settings of package runners, which find their registry and cache by them. */
const RUNNERS = /^(?:npm_config|uv|pip)_/i;
/** Settings whose names suggest a credential, and those with which npm tells its own scripts where they are. */
const WITHHELD =
  /auth|token|passw|secret|username|credential|_key$|^uv_publish|^npm_config_(?:local_|global_)?prefix$/i;

/** Log level of npm. */
const SILENCED = /^npm_config_loglevel$/i;

const NAMES: ReadonlySet<string> = new Set([
  ...BASICS,
  ...PROXIES,
  ...PROXIES.map((name) => name.toLowerCase()),
  ...CERTIFICATES,
]);

/** Names of Windows are the same in any case: `Path` is usual. */
const WINDOWS_NAMES: ReadonlySet<string> = new Set([...NAMES, ...WINDOWS]);

/**
 * The part of the gateway's own environment that every program gets: what it needs to start, to use the network and to
 * install its package. A proxy's URL may contain a password; the other values are not secret.
 */
export function inheritedEnvironment(own: Environment, platform = process.platform): Record<string, string> {
  const passed: Record<string, string> = {};
  const isWindows = platform === 'win32';
  for (const [name, value] of Object.entries(own)) {
    if (
      !(isWindows ? WINDOWS_NAMES.has(name.toUpperCase()) : NAMES.has(name)) &&
      (!RUNNERS.test(name) || WITHHELD.test(name))
    )
      continue;
    // Set by `npm run -s` for its script; with it an npx that cannot install would end without a message.
    if (SILENCED.test(name) && value === 'silent') continue;
    // A function exported by a shell would run in every shell that the program starts.
    if (value !== undefined && !value.startsWith('()')) passed[name] = value;
  }
  return passed;
}

/**
 * The whole environment of a program that the gateway starts: what every program inherits, then what it is given.
 *
 * One rule for backends and workloads: the gateway's environment holds its own secrets, so a list of names says what is
 * inherited, and a program that needs more is given it by name.
 */
export function programEnvironment(
  own: Environment,
  given: Readonly<Record<string, string>> = {},
  platform = process.platform,
): Record<string, string> {
  if (platform === 'win32') return withoutDoubles(inheritedEnvironment(own, platform), given);
  return { ...inheritedEnvironment(own), ...given };
}

/** Windows would use either of `Path` and `PATH`. */
function withoutDoubles(inherited: Record<string, string>, given: Readonly<Record<string, string>>) {
  const names = new Set(Object.keys(given).map((name) => name.toUpperCase()));
  const rest = Object.entries(inherited).filter(([name]) => !names.has(name.toUpperCase()));
  return { ...Object.fromEntries(rest), ...given };
}

/** Passwords in URLs of an environment, to be masked in the output of a program. */
export function passwordsIn(env: Environment): readonly string[] {
  return Object.values(env).flatMap((value) => {
    const url = value?.includes('@') && URL.canParse(value) ? new URL(value) : undefined;
    return url === undefined || url.password === '' ? [] : [url.password, decodeURIComponent(url.password)];
  });
}
