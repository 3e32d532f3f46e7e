import { z } from 'zod';

/**
 * Section `statusPages` of a vmcp file: protects the pages that name backends and tools.
 *
 * Shape: a separate address, a token, or both.
 */
export const statusPagesSchema = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('serves the pages at this port instead of the port of the endpoint; 0 takes any free port'),
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
    message: 'protects nothing, expected port, tokenEnv or both',
  })
  .refine(({ host, port }) => host === undefined || port !== undefined, {
    path: ['host'],
    message: 'has no effect without port; set port too, or remove it',
  });

/** The parsed section. */
export type StatusPagesConfig = z.output<typeof statusPagesSchema>;

/** Default address of a separate port. */
export const STATUS_PAGES_HOST = '127.0.0.1';
