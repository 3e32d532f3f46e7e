import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const NAMES = ['mkdir', 'open', 'rename', 'rm'] as const;

/** How writes fail while a function runs. */
export interface FailingWrites {
  /** The write that fails, from 1. */
  readonly at: number;
  /** All later ones fail too, as after a kill. */
  readonly andAllLater: boolean;
  readonly code: string;
}

/**
 * Runs a function while writes to files of this process fail. Only calls of `node:fs/promises` count; locks are not affected.
 * Resolves with the number of writes and the outcome.
 */
export async function withFailingWrites<T>(
  { at, andAllLater, code }: FailingWrites,
  run: () => Promise<T>,
): Promise<{ readonly writes: number; readonly outcome: PromiseSettledResult<T> }> {
  const real = Object.fromEntries(NAMES.map((name) => [name, fs[name]])) as unknown as Record<
    string,
    // biome-ignore lint/suspicious/noExplicitAny: functions of any shape
    (...args: any[]) => Promise<any>
  >;
  let writes = 0;
  const isFailing = (): boolean => {
    writes += 1;
    return writes === at || (andAllLater && writes > at);
  };
  const fault = () => Object.assign(new Error(`${code}: made by the test`), { code, syscall: 'write' });
  for (const name of NAMES) {
    Object.assign(fs, {
      async [name](...args: readonly unknown[]) {
        const isRead = name === 'open' && typeof args[1] !== 'string';
        if (!isRead && isFailing()) throw fault();
        const result = await real[name]?.(...args);
        if (name === 'open' && !isRead) {
          const write = result.writeFile.bind(result);
          result.writeFile = async (...content: readonly unknown[]) => {
            if (isFailing()) throw fault();
            return write(...content);
          };
        }
        return result;
      },
    });
  }
  syncBuiltinESMExports();
  try {
    const [outcome] = await Promise.allSettled([run()]);
    return { writes, outcome };
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}
