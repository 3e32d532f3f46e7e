import { type AuthStrategy, explainIssues, GatewayFault } from '@toolmgr/core';
import { z } from 'zod';
import { DISCOVERED, type PreparedCredentials, type StrategyUse } from './prepared-credentials.ts';

/** Options of the strategy `discovered`. */
export const discoveredOptions = z.strictObject({
  default: z
    .strictObject({
      type: z
        .string()
        .min(1)
        .refine((type) => type !== DISCOVERED, 'expected a strategy of its own')
        .describe('name in the slot authStrategies'),
      options: z.unknown().optional().describe('its options'),
    })
    .default({ type: 'unauthenticated' })
    .describe('strategy of backends whose entry in the document has none'),
});

/** Strategy that uses for each backend the one that the document names. `uses` gets the default of the plan. */
export function createDiscovered(
  credentials: PreparedCredentials,
  uses: (byDefault: StrategyUse) => void,
): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = discoveredOptions.safeParse(given ?? {});
      if (!read.success) {
        const problems = explainIssues(where, discoveredOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      uses(read.data.default);
      return {
        perCaller: true, // a backend may come whose credentials are those of callers
        forBackend: (backend) => credentials.forBackend(backend),
        apply: (outbound, authContext) => credentials.forBackend(outbound.backend.name).apply(outbound, authContext),
      };
    },
  };
}
