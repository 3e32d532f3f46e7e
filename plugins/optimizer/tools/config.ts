import { CONNECTION_FIELDS, FIELD_NAME } from '@toolmgr/core';
import { serviceUrlProblem } from '@toolmgr/plugins/kit/embedding';
import { decimalText, goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const MAX_HEADERS = 32;
const MAX_LISTED = 100;
const MAX_DESCRIPTION = 4_096;
/** Headers that belong to the connection or to the gateway. */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([...CONNECTION_FIELDS, 'content-type']);

const headers = z.record(z.string(), z.string()).superRefine((given, context) => {
  if (Object.keys(given).length > MAX_HEADERS) {
    context.addIssue({ code: 'custom', message: `expected at most ${MAX_HEADERS} headers` });
  }
  for (const [name, value] of Object.entries(given)) {
    const problem = headerProblem(name.toLowerCase(), value);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem });
  }
});

/** The message omits the value, because it may be a secret. */
function headerProblem(name: string, value: string): string | undefined {
  if (name === 'authorization') return 'cannot be set: the key is read from the environment variable EMBEDDING_API_KEY';
  if (FORBIDDEN_HEADERS.has(name)) return 'cannot be set: the gateway sets it itself';
  if (!FIELD_NAME.test(name)) return 'expected the name of a header';
  return /^[\t\x20-\x7e]*$/.test(value) ? undefined : 'expected visible ASCII';
}

const shape = z.strictObject({
  embeddingProvider: z
    .enum(['tei', 'openai', 'local'])
    .default('tei')
    .describe('protocol of the embedding service; `local` runs a model from a folder in this process'),
  embeddingService: z
    .string()
    .superRefine((url, context) => {
      const problem = serviceUrlProblem(url);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .optional()
    .describe('base URL of the service; without it tools are found by keywords only'),
  embeddingModel: z
    .string()
    .min(1)
    .optional()
    .describe('model of the service (`openai`, required), folder of the model (`local`, required); ignored for `tei`'),
  embeddingHeaders: headers
    .optional()
    .describe('sent with every request, `openai` only; plain text, no secrets: the key is in `EMBEDDING_API_KEY`'),
  embeddingServiceTimeout: goDuration.prefault('30s').describe('timeout of one request to the service'),
  hybridSearchSemanticRatio: decimalText(1).default('0.5').describe('0.0 keywords only, 1.0 meaning only'),
  maxToolsToReturn: z.int().min(1).max(50).default(8).describe('maximum tools that one search returns'),
  semanticDistanceThreshold: decimalText(2)
    .default('1.0')
    .describe('maximum cosine distance of a semantic match: 0 identical, 2 opposite'),
  directPath: z
    .string()
    .startsWith('/')
    .optional()
    .describe(
      'second path that lists all tools, for clients that prefer the full list; below the path of the endpoint',
    ),
  alwaysListed: z
    .array(z.string().min(1))
    .max(MAX_LISTED)
    .default([])
    .describe('names of tools that are listed beside `find_tool` and `call_tool`, also composite tools'),
  findToolDescription: z
    .string()
    .min(1)
    .max(MAX_DESCRIPTION)
    .optional()
    .describe('description of `find_tool` instead of the own one, e.g. what the tools behind it are for'),
  searcher: z.string().min(1).default('hybrid').describe('name of the searcher'),
});

/** The section `optimizer`; `directPath` and the keys after it are extensions. Source: vmcp spec §2 optimizer and §8 limits. */
export const optimizerConfig = shape.superRefine((config, context) => {
  const { embeddingProvider: provider, embeddingService, embeddingModel, embeddingHeaders } = config;
  const refuse = (key: keyof typeof config, message: string) =>
    context.addIssue({ code: 'custom', path: [key], message, input: config[key] });
  if (provider === 'openai' && embeddingService === undefined) {
    refuse('embeddingService', 'missing, embeddingProvider openai needs the base URL of a service');
  }
  if (provider === 'local' && embeddingService !== undefined) {
    refuse('embeddingService', 'has no effect with embeddingProvider local; remove it');
  }
  if (provider !== 'tei' && embeddingModel === undefined) {
    refuse('embeddingModel', `missing, embeddingProvider ${provider} needs ${NEEDS[provider]}`);
  }
  if (provider !== 'openai' && embeddingHeaders !== undefined && Object.keys(embeddingHeaders).length > 0) {
    refuse('embeddingHeaders', `are for embeddingProvider openai only, got ${provider}`);
  }
});

const NEEDS = { openai: 'the name of a model', local: 'the folder of a model' } as const;

/** The parsed configuration; durations in milliseconds, decimals as text. */
export type OptimizerConfig = z.output<typeof optimizerConfig>;
