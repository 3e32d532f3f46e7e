// The process of `cli-session.ts`: runs the command lines that it is sent, one at a time, with their environment, folder and input.
import { Readable } from 'node:stream';
import { main } from '../../hosts/cli/main.ts';
import type { CommandTask } from './cli-session.ts';

process.on('message', async ({ args, env, cwd, input }: CommandTask) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  if (env.HIDDEN !== undefined) await import('./hide-package-hook.ts');
  const printed = { out: '', err: '' };
  const keep =
    (name: 'out' | 'err') =>
    (text: string | Uint8Array): boolean => {
      printed[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      return true;
    };
  process.stdout.write = keep('out');
  process.stderr.write = keep('err');
  const code = await main(['node', 'toolmgr', ...args]);
  process.exitCode = 0;
  process.send?.({ code, ...printed });
});
