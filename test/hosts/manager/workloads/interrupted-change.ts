// Does one change of a workload and kills its own process at the given write: `node interrupted-change.ts STATE CHANGE WRITE`.
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [, , state = '', change = '', at = '0'] = process.argv;
process.on('SIGXFSZ', () => {}); // a file at its limit is a failed write, as on a full disk
let writes = 0;
for (const name of ['open', 'rename', 'rm', 'mkdir'] as const) {
  const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
  Object.assign(promises, {
    [name]: (...args: unknown[]) => {
      const isRead = name === 'open' && (args[1] === undefined || args[1] === 'r');
      const isLock = String(args[0]).includes('/locks');
      if (!isRead && !isLock && ++writes === Number(at)) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    },
  });
}
syncBuiltinESMExports();

const { changes } = await import('./changes.ts');
const act = changes[change];
if (act === undefined) throw new Error(change);
try {
  await act(state);
} catch (cause) {
  process.stdout.write(`${(cause as NodeJS.ErrnoException).code ?? cause}\n`);
}
