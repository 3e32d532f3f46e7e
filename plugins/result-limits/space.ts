/** Space for kept results. Counts only what this process keeps. */
export interface Space {
  /**
   * Takes space for a value. Resolves to the store keys of older values of the same owner that must go for it, or `undefined` when
   * there is no space: values of other owners never go.
   */
  take(owner: string, key: string, bytes: number): readonly string[] | undefined;
  /** Whether a value still has its space. */
  has(key: string): boolean;
  /** Gives the space of a value back. */
  release(key: string): void;
  /** Values and bytes that have not expired. */
  now(): { readonly results: number; readonly bytes: number };
}

export interface SpaceLimits {
  readonly bytesPerCaller: number;
  readonly bytesTotal: number;
  readonly keepForMs: number;
  now(): number;
}

interface Kept {
  readonly owner: string;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

interface Owned {
  bytes: number;
  /** Oldest first. */
  readonly keys: Set<string>;
}

export function createSpace({ bytesPerCaller, bytesTotal, keepForMs, now }: SpaceLimits): Space {
  /** In the order in which they expire, because all are kept for the same time. */
  const kept = new Map<string, Kept>();
  const owners = new Map<string, Owned>();
  let total = 0;

  const release = (key: string): void => {
    const value = kept.get(key);
    if (value === undefined) return;
    kept.delete(key);
    total -= value.bytes;
    const owned = owners.get(value.owner);
    if (owned === undefined) return;
    owned.bytes -= value.bytes;
    owned.keys.delete(key);
    if (owned.keys.size === 0) owners.delete(value.owner);
  };
  const releaseExpired = (): void => {
    const nowMs = now();
    for (const [key, { expiresAtMs }] of kept) {
      if (expiresAtMs > nowMs) return;
      release(key);
    }
  };

  return {
    has: (key) => kept.has(key),
    release,
    take(owner, key, bytes) {
      releaseExpired();
      const ownBytes = owners.get(owner)?.bytes ?? 0;
      if (bytes > bytesPerCaller || total - ownBytes + bytes > bytesTotal) return undefined;
      const gone: string[] = [];
      for (const oldest of [...(owners.get(owner)?.keys ?? [])]) {
        if ((owners.get(owner)?.bytes ?? 0) + bytes <= bytesPerCaller && total + bytes <= bytesTotal) break;
        release(oldest);
        gone.push(oldest);
      }
      const owned = owners.get(owner) ?? { bytes: 0, keys: new Set<string>() };
      owners.set(owner, owned);
      owned.bytes += bytes;
      owned.keys.add(key);
      total += bytes;
      kept.set(key, { owner, bytes, expiresAtMs: now() + keepForMs });
      return gone;
    },
    now() {
      releaseExpired();
      return { results: kept.size, bytes: total };
    },
  };
}
