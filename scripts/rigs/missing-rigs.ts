import { existsSync } from 'node:fs';
import type { RigName } from './recipes.ts';
import { rigFolder } from './rig-folder.ts';

/** Which of these rigs are not built, and how to build them; `undefined` when none is missing. */
export function missingRigs(...names: readonly RigName[]): string | undefined {
  const missing = names.filter((name) => !existsSync(rigFolder(name)));
  if (missing.length === 0) return undefined;
  const which = missing.length === 1 ? `the rig ${missing[0]} is` : `the rigs ${missing.join(' and ')} are`;
  return `${which} not built: npm run rigs ${missing.join(' ')}`;
}
