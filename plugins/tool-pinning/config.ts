import { z } from 'zod';

/** `toolPinning` of a vmcp file. */
export const toolPinningConfig = z.strictObject({
  mode: z
    .enum(['trustFirst', 'approve', 'scan', 'frozen'])
    .default('trustFirst')
    .describe(
      'trustFirst: the first lists of a backend are pinned, what is new or changed later is held. approve: everything is held until it is approved. scan: what is new or changed is held if the scanner finds something, else it is pinned. frozen: as approve, and the file is not written',
    ),
  file: z
    .string()
    .min(1)
    .optional()
    .describe('File with the pins; by default `pins/NAME.json` in the state folder, NAME being that of the gateway'),
});

export type ToolPinningConfig = z.output<typeof toolPinningConfig>;
