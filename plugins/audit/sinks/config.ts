import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

/** The operator of the gateway names the receivers, which are mostly in a private network. */
export const RECEIVER_RULES = { allowHttp: true, allowPrivateAddresses: true } as const;

const url = z.string().superRefine((given, context) => {
  const problem = remoteUrlProblem(given, RECEIVER_RULES);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const SYSLOG = /^(?:udp|tcp|tls):\/\/(?:\[[0-9a-fA-F:.]+\]|[^/?#@:[\]]+)(?::\d{1,5})?$/;

/** Where the lines are sent besides `logFile`. */
export const remoteSinks = {
  syslog: z
    .strictObject({
      address: z
        .string()
        .regex(SYSLOG, 'expected udp://, tcp:// or tls:// with a host and perhaps a port')
        .describe('`tls://host:6514`, `tcp://host:601` or `udp://host:514`'),
      caCertPath: z.string().min(1).optional().describe("PEM file with CA certificates, instead of the system's"),
      facility: z.int().min(0).max(23).default(13).describe('facility of RFC 5424; 13 is log audit'),
      appName: z
        .string()
        .regex(/^[\x21-\x7e]{1,48}$/, 'expected 1 to 48 printable ASCII characters without spaces')
        .default('toolmgr')
        .describe('APP-NAME'),
    })
    .optional()
    .describe('send every line to a syslog server too (RFC 5424)'),
  otlp: z
    .strictObject({
      endpoint: url.describe('URL of a collector, to whose path `/v1/logs` is added'),
      tokenRef: secretReference.optional().describe('bearer token'),
    })
    .optional()
    .describe('send every line to an OpenTelemetry collector too, as log records over HTTP'),
  webhook: z
    .strictObject({
      url: url.describe('where lines are posted, several in one request (application/x-ndjson)'),
      hmacSecretRef: secretReference.optional().describe('key that signs requests: `X-Toolmgr-Signature`'),
      tokenRef: secretReference.optional().describe('bearer token'),
    })
    .optional()
    .describe('post every line to a URL too'),
} as const;

/** The parsed settings. */
export type RemoteSinks = { readonly [Name in keyof typeof remoteSinks]: z.output<(typeof remoteSinks)[Name]> };
