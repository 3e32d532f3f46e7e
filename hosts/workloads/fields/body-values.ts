import { SECRET_KEY } from '@toolmgr/plugins/kit/secrets';
import { resourceProblem } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';

// Values of members of a body that are narrower than their fields. Source: reference workload-api §2.7.

export const text = z.string().max(8_192);

export const port = z.int().min(0).max(65_535);

export const proxyMode = z.enum(['', 'sse', 'streamable-http'], {
  error: 'expected streamable-http, or sse (deprecated)',
});

export const callbackPort = z
  .int()
  .refine((given) => given === 0 || (given >= 1_024 && given <= 65_535), 'expected 0, or a port from 1024 to 65535');

export const resourceUri = z.string().refine((given) => given === '' || resourceProblem(given) === undefined, {
  error: ({ input }) => resourceProblem(`${input}`) ?? 'expected an absolute URI',
});

/** A name of a stored secret, as a text. */
export const secretName = z.union([z.literal(''), z.string().regex(SECRET_KEY)], {
  error: 'expected the name of a stored secret: a secret itself is not accepted here',
});

/** A secret by its name, and where its value goes. */
export const secretRef = z
  .strictObject({
    name: z.string().min(1).describe('name of the stored secret'),
    target: z.string().default('').describe('variable or field that gets its value'),
  })
  .describe('reference of a stored secret');

/** Definition of a header of a remote server. */
export const headerDef = z.strictObject({
  name: z.string().min(1).describe('name of the header'),
  description: z.string().optional().describe('what it is for'),
  required: z.boolean().optional().describe('requests need it'),
  secret: z.boolean().optional().describe('its value is a secret'),
  default: z.string().optional().describe('value when none is given'),
  choices: z.array(z.string()).optional().describe('values that the server accepts'),
});

/** Other names and descriptions of tools, as a body has them and as they are shown. */
export const toolNames = z.record(
  z.string().min(1),
  z.strictObject({ name: text.optional(), description: text.optional() }),
);
export const shownToolNames = z.record(z.string(), z.strictObject({ name: z.string(), description: z.string() }));
