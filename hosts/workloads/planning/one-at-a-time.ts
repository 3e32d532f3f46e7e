const tails = new Map<string, Promise<unknown>>();

/** Runs `act` after every earlier one of the same key in this process has ended, however it ended. */
export async function oneAtATime<T>(key: string, act: () => Promise<T>): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve();
  const mine = before.then(act, act);
  const tail = mine.catch(() => undefined);
  tails.set(key, tail);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === tail) tails.delete(key);
  }
}
