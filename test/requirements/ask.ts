import { commands } from './ask/commands.ts';
import { core } from './ask/core.ts';

/** The sentences of issue 2 that tests must show. */
export const ask = [...commands, ...core] as const;
