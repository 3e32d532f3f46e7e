import { join } from 'node:path';

const HOOK = join(import.meta.dirname, 'hide-package-hook.ts');

/** Environment of Node.js processes and of commands of a session that do not find a package, as where it is not installed. */
export function hidePackage(name: string): Readonly<Record<string, string>> {
  return { HIDDEN: name, NODE_OPTIONS: `--import ${HOOK}` };
}
