import { z } from 'zod';

/** Key of the config map that holds the document. */
export const BACKENDS_KEY = 'backends.json';

/**
 * The backends of a group as the operator resolves them and pods of the aggregator follow them.
 *
 * Shape: JSON text under the key `backends.json` of one config map. It holds no secret: `secrets` says where each value is.
 */
export const backendsDocument = z.strictObject({
  /** Changes with every change of the document or of a secret that it names. */
  checksum: z.string(),
  backends: z.array(
    z.strictObject({
      name: z.string().min(1),
      url: z.string(),
      transport: z.enum(['streamable-http', 'sse']),
      type: z.enum(['entry', '']).optional(),
      metadata: z.record(z.string(), z.string()).optional(),
      /** Where the host of the URL may lead. Absent: anywhere. */
      addresses: z.enum(['public', 'network']).optional(),
      /** PEM text with the CAs to trust. */
      caBundle: z.string().optional(),
      /** Strategy in the form of a plan: a name in the slot `authStrategies` and its options. Absent: none. */
      auth: z.strictObject({ type: z.string(), options: z.unknown().optional() }).optional(),
      /** Headers that are added to every request; `secretHeaders` maps a header to a name of `secrets`. */
      headers: z.record(z.string(), z.string()).optional(),
      secretHeaders: z.record(z.string(), z.string()).optional(),
      /** The MCPExternalAuthConfig that `auth` comes from. */
      authConfigRef: z.string().optional(),
    }),
  ),
  /** Secrets by the name that options of strategies use, such as `headerValueEnv`. */
  secrets: z.record(z.string(), z.strictObject({ name: z.string(), key: z.string() })),
});

/** A parsed document. */
export type BackendsDocument = z.output<typeof backendsDocument>;

/** One backend of a document. */
export type DocumentBackend = BackendsDocument['backends'][number];

/** Key of the metadata of a backend with the name of its MCPExternalAuthConfig. */
export const AUTH_CONFIG_REF = 'auth_config_ref';
