import { existsSync, realpathSync } from 'node:fs';

/** Whether Node was started with this module. `import.meta.main` says the same, but Node 24.0 and 24.1 lack it. */
export function isMain({ filename }: ImportMeta): boolean {
  const [, started] = process.argv; // the first argument, and not a file, with `node --eval`
  return started !== undefined && existsSync(started) && realpathSync(started) === filename;
}
