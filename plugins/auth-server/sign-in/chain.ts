import type { Connection } from '../accounts/accounts.ts';
import type { Upstream } from '../upstreams/upstream.ts';

/** How far a sign-in is. */
export interface ChainState {
  /** Known person; `undefined` before the first provider named one. */
  readonly person: string | undefined;
  /** Providers that were connected in this sign-in. */
  readonly connected: readonly string[];
  readonly connections: readonly Connection[];
}

/** The provider that names the person: the first required one, or the first when none is required. */
export function identityProviderOf(upstreams: readonly Upstream[]): Upstream {
  const found = upstreams.find(({ loginPolicy }) => loginPolicy === 'required') ?? upstreams[0];
  if (found === undefined) throw new Error('no upstream provider is configured');
  return found;
}

/**
 * The provider that a person has to go to next, in the configured order; `undefined` when all are done. On-demand providers
 * are no part of a sign-in.
 */
export function nextProvider(upstreams: readonly Upstream[], state: ChainState): Upstream | undefined {
  const first = identityProviderOf(upstreams);
  if (state.person === undefined) return first;
  const isDone = ({ name }: Upstream): boolean =>
    state.connected.includes(name) || state.connections.some(({ provider, isUsable }) => provider === name && isUsable);
  return upstreams.find((upstream) => (upstream === first || upstream.loginPolicy === 'required') && !isDone(upstream));
}
