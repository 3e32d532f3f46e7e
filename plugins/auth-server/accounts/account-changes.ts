import { randomUUID } from 'node:crypto';
import type { AuthStorage } from '../storage/storage.ts';

/** The tokens of a person at a provider changed, or a session has ended. */
export type AccountChange =
  | { readonly person: string; readonly provider: string }
  | { readonly tsid: string; readonly provider?: undefined };

/** Tells this process and the other replicas about changes. */
export interface AccountChanges {
  /** This process sees it at once, other replicas a moment later, or not while the storage is away. */
  announce(change: AccountChange): void;
  /** Nothing is heard any more. */
  stop(): void;
}

/** Calls `changed` for every change of this process and of the other replicas. */
export function createAccountChanges(
  storage: Pick<AuthStorage, 'announce' | 'listen'>,
  changed: (change: AccountChange) => void,
): AccountChanges {
  const self = randomUUID();
  const stop = storage.listen((text) => {
    const heard = readChange(text);
    if (heard !== undefined && heard.from !== self) changed(heard.change);
  });
  return {
    announce(change) {
      changed(change);
      void storage.announce(JSON.stringify({ from: self, ...change }));
    },
    stop,
  };
}

/** `undefined` for a text of another program that uses the channel. */
function readChange(text: string): { readonly from: unknown; readonly change: AccountChange } | undefined {
  try {
    const { from, person, provider, tsid } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof tsid === 'string') return { from, change: { tsid } };
    if (typeof person !== 'string' || typeof provider !== 'string') return undefined;
    return { from, change: { person, provider } };
  } catch {
    return undefined;
  }
}
