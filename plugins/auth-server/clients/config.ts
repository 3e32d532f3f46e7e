import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const DEFAULT_TTL = '5m';
const DEFAULT_DOCUMENTS = 256;

/** A scope as RFC 6749 §3.3 allows it. */
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes');

const cimd = z
  .strictObject({
    enabled: z.boolean().describe('accept client ids that are URLs of metadata documents'),
    cacheFallbackTtl: goDuration.prefault(DEFAULT_TTL).describe('time for which a document is cached'),
    cacheMaxSize: z.int().min(1).default(DEFAULT_DOCUMENTS).describe('documents in the cache'),
  })
  .prefault({ enabled: false })
  .describe('client ID metadata documents');

/**
 * The part of `authServerConfig` about clients.
 *
 * Source: vmcp spec §2 `spec.authServerConfig`; `confidentialClients` is an extension of ours.
 */
export const clientsShape = {
  baselineClientScopes: z
    .array(scope)
    .default([])
    .describe('scopes that every registered client and every client with a metadata document may request'),
  cimd,
  confidentialClients: z
    .boolean()
    .default(false)
    .describe('let clients register with a secret; without it a client that asks for one is registered without'),
} as const;

const clientsConfig = z.strictObject(clientsShape);

/** The parsed configuration. */
export type ClientsConfig = z.output<typeof clientsConfig>;
