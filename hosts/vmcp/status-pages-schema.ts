import { z } from 'zod';

/**
 * Section `statusPages` of a vmcp file: who reaches the pages that name backends and tools.
 *
 * Shape: an address of their own, a token, or both.
 */
export const statusPagesSchema = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('the pages leave the port of the endpoint and are served at this one; 0 takes any free port'),
    host: z
      .string()
      .min(1, 'expected an address that is not empty')
      .optional()
      .describe('address that `port` is bound to; default: 127.0.0.1'),
    tokenEnv: z
      .string()
      .min(1, 'expected the name of an environment variable')
      .optional()
      .describe(
        'environment variable that holds the token of the pages (`Authorization: Bearer …`); read at the start and at each reload',
      ),
  })
  .refine(({ port, tokenEnv }) => port !== undefined || tokenEnv !== undefined, {
    message: 'guards nothing, expected port, tokenEnv or both',
  })
  .refine(({ host, port }) => host === undefined || port !== undefined, {
    path: ['host'],
    message: 'has no effect without port; set port too, or remove it',
  });

/** The section as it was read. */
export type StatusPagesConfig = z.output<typeof statusPagesSchema>;

/** Where the pages go that have a port of their own and no host. */
export const STATUS_PAGES_HOST = '127.0.0.1';
