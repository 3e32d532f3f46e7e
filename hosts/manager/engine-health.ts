import { engineState } from '@toolmgr/plugins/workloads/container';

const FRESH_MS = 2_000; // health is public: more requests do not ask the engine more often

/** Why the container engine of this machine is not usable; `undefined` when it answers or none is installed. */
export function engineHealth(env: Readonly<Record<string, string | undefined>>): () => Promise<string | undefined> {
  let last: { readonly atMs: number; readonly found: Promise<string | undefined> } | undefined;
  return () => {
    if (env.TOOLMGR_RUNTIME === 'process') return Promise.resolve(undefined);
    if (last === undefined || performance.now() - last.atMs > FRESH_MS) {
      last = { atMs: performance.now(), found: ask(env) };
    }
    return last.found;
  };
}

async function ask(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const state = await engineState({ ...env });
  return state === 'silent' ? 'the container engine does not answer; workloads without containers run on' : undefined;
}
