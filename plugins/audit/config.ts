import { z } from 'zod';
import { EVENT_TYPES } from './event-types.ts';

const eventType = z.enum(EVENT_TYPES);

/** Keys, defaults and ranges of the contract. Source: vmcp spec §2 audit, §8. */
export const auditConfig = z.strictObject({
  component: z.string().default('toolmgr-vmcp').describe('name of this server in every line'),
  metadata: z
    .record(z.string(), z.string())
    .default({})
    .describe('of this server, in every line as `metadata.server`; a vmcp file gives its own `metadata`'),
  detectApplicationErrors: z
    .boolean()
    .default(true)
    .describe('a JSON-RPC error answered with HTTP 200 is the outcome `application_error`; otherwise `success`'),
  eventTypes: z.array(eventType).default([]).describe('only these types; empty means all'),
  excludeEventTypes: z.array(eventType).default([]).describe('never these types; wins over eventTypes'),
  includeRequestData: z
    .boolean()
    .default(false)
    .describe('write the parameters of requests, secrets masked; longer ones than maxDataSize are left out'),
  includeResponseData: z
    .boolean()
    .default(false)
    .describe('write what was answered, secrets masked, cut after maxDataSize'),
  logFile: z
    .string()
    .default('')
    .describe('file to append to, made with mode 0600; a relative one is in the working directory; empty means stdout'),
  maxDataSize: z.int().min(0).default(1024).describe('bytes of each request and of each response that are written'),
  maxDelegationDepth: z.int().min(1).default(10).describe('actors kept of a nested RFC 8693 `act` claim'),
});

/** What the plugin was told. */
export type AuditConfig = z.output<typeof auditConfig>;
