import { explainCause } from '@toolmgr/core';
import { logInAt } from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import type { ConfiguredRegistry, PendingSignIn, RegistrySignIn } from '@toolmgr/plugins/registry';
import { openBrowser } from '../login/open-browser.ts';
import { originOf, providerOf, writeLogin } from './registry-logins.ts';

/** Time of the person, in milliseconds. */
const SIGN_IN_MS = 5 * 60_000;

/** Signs people in at registries with the browser of this machine. */
export const registrySignIn: RegistrySignIn = {
  start: (registry, { opensBrowser, signal }) =>
    new Promise((resolve) => {
      const done = signIn(registry, signal, (url) => {
        if (opensBrowser) void openBrowser(url);
        resolve({ url, done });
      });
      // it ended before there was a URL
      void done.then((outcome) => {
        if (outcome.kind === 'failed') resolve({ problem: outcome.reason });
      });
    }),
  end: (registry) => writeLogin(registry, undefined),
};

/** Never rejects. */
async function signIn(
  registry: ConfiguredRegistry,
  signal: AbortSignal,
  show: (url: string) => void,
): Promise<Awaited<PendingSignIn['done']>> {
  try {
    const provider = providerOf(registry);
    const { callbackPort } = registry.auth ?? {};
    const outcome = await logInAt({
      ...provider,
      ...(callbackPort === undefined ? {} : { callbackPort }),
      timeoutMs: SIGN_IN_MS,
      show: ({ url }) => show(url),
      now: Date.now,
      signal,
    });
    if ('problem' in outcome) return { kind: 'failed', reason: outcome.problem };
    const { issuer, clientId } = provider;
    await writeLogin(registry, { origin: originOf(registry), issuer, clientId, ...outcome.tokens });
    return { kind: 'done' };
  } catch (cause) {
    return { kind: 'failed', reason: signal.aborted ? 'the sign-in was not finished in time' : explainCause(cause) };
  }
}
