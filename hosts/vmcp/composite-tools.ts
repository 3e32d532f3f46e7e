import type { PlanInput } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import type { Problem } from './problem.ts';

/** The workflows of a file; they wait for answers where its sessions are, so that any replica goes on with them. */
export function compositeToolsOf({ compositeTools = [], sessionStorage }: VmcpConfig): PlanInput['plugins'] {
  if (compositeTools.length === 0) return [];
  const store = sessionStorage?.provider === 'redis' ? { store: 'redis' } : {};
  return [{ use: 'composite/engine', with: { compositeTools, ...store } }];
}

const STEP_TYPES: readonly string[] = ['tool', 'elicitation', 'forEach'];

/** Step types that nobody can bring: a file without plugins of its own has those of the contract only. */
export function unknownStepTypes({ compositeTools = [], plugins = [] }: VmcpConfig): Problem[] {
  if (plugins.length > 0) return [];
  return compositeTools.flatMap(({ steps }, tool) =>
    steps.flatMap(({ type = 'tool' }, step) =>
      STEP_TYPES.includes(type)
        ? []
        : [
            {
              path: ['compositeTools', tool, 'steps', step, 'type'],
              message: `no step type is named "${type}" (known: ${STEP_TYPES.join(', ')}; others come with a plugin under plugins:)`,
            },
          ],
    ),
  );
}
