import { explainCause, GatewayFault } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import {
  type RunConfig,
  readWorkload,
  readWorkloadSecrets,
  secretNameOf,
  workloadSecretStore,
} from '@toolmgr/plugins/kit/workloads';
import {
  cachedClientOf,
  forgetLackingScopes,
  forgetLogin,
  furtherScopesOf,
  isLoggedIn,
  logIn,
  type Remote,
  settingsOf,
  storeLogin,
} from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import { readSecretFile } from '../config/option-file.ts';
import { INTERRUPTED } from '../planning/launch.ts';
import type { StartWork } from '../planning/work.ts';
import { readUserSecrets } from '../secrets/start-secrets.ts';
import { openBrowser } from './open-browser.ts';

/**
 * Logs the user in at the remote server of a workload before its proxy starts, if the server asks for it and no earlier login
 * can be used. Resolves with the reason when that fails, also when the signal of `work` aborts.
 */
export async function logInFirst(state: string, name: string, work: StartWork): Promise<string | undefined> {
  const { signal } = work;
  const config = (await readWorkload(state, name))?.config;
  const remote = config === undefined ? undefined : await remoteOf(state, config);
  if (config === undefined || remote === undefined) return undefined;
  try {
    if (config.remote_auth_config?.cached_lacking_scopes !== undefined) {
      const problem = await logInNow(state, config, remote, work);
      if (problem === undefined) return undefined;
      // the tools that need no further scope can be used with the login that there is
      const sentence = `${name}: ${problem}; the scopes of the last login are kept`;
      work.report(sentence);
      work.onWarning?.(sentence);
      await forgetLackingScopes(state, name);
      return await logInFirst(state, name, work);
    }
    if (await isLoggedIn(state, config, remote, signal)) return undefined;
    return await logInNow(state, config, remote, work);
  } catch (cause) {
    if (signal.aborted) return INTERRUPTED;
    return explainCause(cause);
  }
}

/** `undefined` when requests get their credentials from the configuration, or when nothing remote is called. */
async function remoteOf(state: string, config: RunConfig): Promise<Remote | undefined> {
  const { remote_url: url, transport, remote_auth_config: auth, header_forward: forward } = config;
  if (url === undefined || transport === 'stdio' || config.token_exchange_config !== undefined) return undefined;
  if (auth?.bearer_token !== undefined || auth?.bearer_token_file !== undefined) return undefined;
  const { add_plaintext_headers: headers = {}, add_headers_from_secret: secret = {} } = forward ?? {};
  const names = Object.keys({ ...headers, ...secret });
  if (names.some((name) => name.toLowerCase() === 'authorization')) return undefined;
  const values = await readUserSecrets(config, await readWorkloadSecrets(state, config.name));
  const fromSecrets = Object.entries(secret).map(([header, name]) => [header, values[name] ?? '']);
  return { url, transport, headers: { ...headers, ...Object.fromEntries(fromSecrets) } };
}

async function logInNow(
  state: string,
  config: RunConfig,
  remote: Remote,
  work: StartWork,
): Promise<string | undefined> {
  const { name, remote_auth_config: auth = {} } = config;
  const outcome = await logIn({
    remote,
    settings: settingsOf(auth, await secretOf(state, config), metadataUrlOf(process.env)),
    cached: await cachedClientOf(state, config),
    furtherScopes: furtherScopesOf(config),
    timeoutMs: durationMs(auth.timeout ?? '') ?? LOGIN_MS,
    show({ url, server }) {
      const opens = auth.skip_browser !== true;
      if (work.onLogin === undefined) work.report(`${name}: log in at ${server} in a browser: ${url}`);
      else work.onLogin({ url, server, origin: new URL(remote.url).origin, opens });
      if (opens) void openBrowser(url);
    },
    now: Date.now,
    signal: work.signal,
  });
  if (outcome.kind === 'done') {
    await storeLogin(state, name, outcome.login);
    work.onLoggedIn?.();
    return undefined;
  }
  if (outcome.kind === 'failed' && auth.cached_lacking_scopes !== undefined) return outcome.reason;
  // a registration that the server has forgotten would fail again
  if (Object.keys(auth).some((field) => field.startsWith('cached_'))) await forgetLogin(state, name);
  return outcome.kind === 'failed' ? outcome.reason : undefined;
}

const LOGIN_MS = 30_000;

async function secretOf(state: string, { name, remote_auth_config: auth = {} }: RunConfig) {
  const { client_secret: reference, client_secret_file: file } = auth;
  if (file !== undefined) return readSecretFile('--remote-auth-client-secret-file', file, '/');
  return reference && (await workloadSecretStore(state, name).read(secretNameOf(reference)));
}

/** URL of a client metadata document. @throws GatewayFault */
function metadataUrlOf({ TOOLMGR_CLIENT_METADATA_URL: given }: NodeJS.ProcessEnv): string | undefined {
  const url = given ? URL.parse(given) : undefined;
  if (url === undefined || (url?.protocol === 'https:' && url.pathname !== '/')) return given || undefined;
  throw new GatewayFault('PLAN_INVALID', 'TOOLMGR_CLIENT_METADATA_URL: expected an https URL with a path');
}
