import { commands } from './ask/commands.ts';
import { core } from './ask/core.ts';
import { protection } from './ask/protection.ts';

/** The sentences of issue 2 that tests must show. */
export const ask = [...commands, ...core, ...protection] as const;
