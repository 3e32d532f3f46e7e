import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { EVENT_TYPES } from './event-types.ts';
import { remoteSinks } from './sinks/config.ts';

const eventType = z.enum(EVENT_TYPES);

/** Keys, defaults and ranges of the contract; `chain`, `onFailure` and the remote sinks are our own. Source: vmcp spec §2 audit, §8. */
export const auditConfig = z.strictObject({
  component: z.string().default('toolmgr-vmcp').describe('name of this server in every event'),
  metadata: z
    .record(z.string(), z.string())
    .default({})
    .describe('metadata of this server, in every event as `metadata.server`; from `metadata` of a vmcp file'),
  detectApplicationErrors: z
    .boolean()
    .default(true)
    .describe('whether a JSON-RPC error with HTTP 200 has the outcome `application_error` instead of `success`'),
  eventTypes: z.array(eventType).default([]).describe('only these types; empty means all'),
  excludeEventTypes: z.array(eventType).default([]).describe('excluded types; takes precedence over eventTypes'),
  includeRequestData: z
    .boolean()
    .default(false)
    .describe('write request parameters, secrets masked; omitted when larger than maxDataSize'),
  includeResponseData: z.boolean().default(false).describe('write results, secrets masked, cut at maxDataSize'),
  logFile: z
    .string()
    .default('')
    .describe('file to append to, created with mode 0600; relative to the working directory; empty means stdout'),
  chain: z
    .strictObject({
      signingKeyRef: secretReference
        .optional()
        .describe('PEM of an Ed25519, EC or RSA private key that signs a checkpoint at least every minute'),
    })
    .optional()
    .describe('number every line and write the hash of the line before it, for `toolmgr audit verify`'),
  onFailure: z
    .enum(['continue', 'refuse'])
    .default('continue')
    .describe('what happens to calls while lines cannot be written to `logFile`: `refuse` answers 503'),
  maxDataSize: z.int().min(0).default(1024).describe('maximum bytes of each request and response'),
  maxDelegationDepth: z.int().min(1).default(10).describe('maximum actors of a nested RFC 8693 `act` claim'),
  ...remoteSinks,
});

/** The parsed configuration. */
export type AuditConfig = z.output<typeof auditConfig>;
