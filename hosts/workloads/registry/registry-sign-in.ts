import { explainCause } from '@toolmgr/core';
import type { ConfiguredRegistry, PendingSignIn, RegistrySignIn } from '@toolmgr/plugins/registry';
import { openBrowser } from '../../workloads/login/open-browser.ts';
import { originOf, providerOf, writeLogin } from '../../workloads/registry/registry-logins.ts';

/** Time of the person, in milliseconds. */
const SIGN_IN_MS = 5 * 60_000;

/**
 * Signs people in at registries with the browser of this machine. A new sign-in at a registry ends the one that waits.
 * `stopping` ends all of them.
 */
export function createRegistrySignIn(stopping?: AbortSignal): RegistrySignIn {
  const waiting = new Map<string, { readonly ending: AbortController; readonly ended: Promise<unknown> }>();
  return {
    async start(registry, { opensBrowser, signal }) {
      const before = waiting.get(registry.name);
      const ending = new AbortController();
      const { promise: shown, resolve: show } = Promise.withResolvers<string>();
      const all = AbortSignal.any([signal, ending.signal, ...(stopping === undefined ? [] : [stopping])]);
      const begin = async (): Promise<Outcome> => {
        before?.ending.abort();
        await before?.ended; // its port is free then
        return signIn(registry, all, show);
      };
      const done = begin();
      const entry = { ending, ended: done };
      waiting.set(registry.name, entry);
      void done.then(() => {
        if (waiting.get(registry.name) === entry) waiting.delete(registry.name);
      });
      const first = await Promise.race([shown, done]);
      if (typeof first !== 'string') return { problem: first.kind === 'failed' ? first.reason : 'it ended at once' };
      if (opensBrowser) void openBrowser(first);
      return { url: first, done };
    },
    end: (registry) => writeLogin(registry, undefined),
  };
}

type Outcome = Awaited<PendingSignIn['done']>;

/** Never rejects. */
async function signIn(
  registry: ConfiguredRegistry,
  signal: AbortSignal,
  show: (url: string) => void,
): Promise<Outcome> {
  try {
    const { logInAt } = await import('@toolmgr/plugins/outgoing-auth/oauth-client/login');
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
    return {
      kind: 'failed',
      reason: signal.aborted ? 'the sign-in was ended: it took too long, or another one began' : explainCause(cause),
    };
  }
}
