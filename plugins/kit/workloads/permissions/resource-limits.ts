import { z } from 'zod';

const SIZE = /^(\d{1,12}(?:\.\d{1,3})?)([bkmg]?)$/i;
const FACTORS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 };

/** Bytes of a size as engines write it: `512m`, `2g`, or a number of bytes; `undefined` when it is none. */
export function memoryBytes(text: string): number | undefined {
  const [, number, unit = ''] = SIZE.exec(text) ?? [];
  return number === undefined ? undefined : Math.floor(Number(number) * (FACTORS[unit.toLowerCase()] ?? 1));
}

/** What is wrong with a size. */
export const MEMORY_FORM = 'expected a size such as 512m or 2g; 0 means no limit';

/** Limits of a container. 0 is no limit; an absent one has its default. */
export const resourceLimits = z.strictObject({
  memory: z
    .string()
    .refine((text) => memoryBytes(text) !== undefined, { error: MEMORY_FORM })
    .optional()
    .describe('memory: `512m`, `2g`; default `2g`'),
  cpus: z
    .number()
    .min(0)
    .max(10_000)
    .optional()
    .describe('processors: `1.5`; default 2, or fewer when the machine has fewer'),
  pids: z.int().min(0).max(4_194_304).optional().describe('processes and threads; default 1024'),
});
