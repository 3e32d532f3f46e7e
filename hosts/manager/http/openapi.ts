import {
  type AnswerSpec,
  type Operation,
  PROBLEMS,
  type ProblemCode,
  problem,
  problemBody,
} from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { hostProblems } from './host-problems.ts';
import { createSchemaConverter, type JsonSchema, type SchemaConverter } from './json-schemas.ts';

/** Operations and who may call them. */
export interface DescribedOperations {
  readonly operations: readonly Operation[];
  /** Operations without a token. */
  readonly openOperations: readonly Operation[];
}

/** The OpenAPI 3.1 document of the operations. Pure. */
export function openApiDocument({ operations, openOperations }: DescribedOperations, version: string): JsonSchema {
  const schemas = createSchemaConverter();
  const paths: Record<string, Record<string, unknown>> = {};
  const add = (operation: Operation, needsToken: boolean): void => {
    paths[operation.path] ??= {};
    const at = paths[operation.path] as Record<string, unknown>;
    at[operation.method.toLowerCase()] = describeOperation(operation, needsToken, schemas);
  };
  for (const operation of operations) add(operation, true);
  for (const operation of openOperations) add(operation, false);
  paths['/health'] = { get: HEALTH };
  const problemSchema = schemas.convert(problemShape, 'output');
  return {
    openapi: '3.1.0',
    info: { title: 'toolmgr workload manager', version, description: DESCRIPTION, license: LICENSE },
    servers: [{ url: '/' }],
    tags: [...new Set([...operations, ...openOperations].map(({ tag }) => tag))].sort().map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      schemas: { ...schemas.components, Problem: problemSchema },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'content of the file server/token in the state folder; not needed on a unix socket',
        },
      },
    },
  };
}

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const DESCRIPTION = [
  'Manages what `toolmgr run` runs: workloads, groups, registries, secrets, clients and skills.',
  'Every refusal is `application/problem+json` (RFC 9457) with a `code`, and with `errors` when members of the request are wrong.',
  'Unknown members and parameters are refused.',
].join('\n');

const problemShape = z
  .object({
    type: z.string().describe('URI of the kind of problem'),
    title: z.string(),
    status: z.int().describe('the HTTP status'),
    detail: z.string().describe('what is wrong and how to mend it'),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
    errors: z
      .array(
        z.object({
          in: z.enum(['body', 'query', 'path', 'header']),
          path: z.string().describe('e.g. `env_vars.TOKEN`; empty for the whole part'),
          detail: z.string(),
        }),
      )
      .optional()
      .describe('each wrong member of the request'),
  })
  .describe('a refusal (RFC 9457)');

const HEALTH = {
  operationId: 'getHealth',
  tags: ['version'],
  summary: 'Check that the manager answers',
  security: [],
  responses: {
    204: {
      description: 'the manager is healthy',
      headers: {
        'X-Toolmgr-Nonce': { description: 'equal to `nonce` in the discovery file', schema: { type: 'string' } },
      },
    },
    ...problemResponses(['forbidden', 'method_not_allowed', 'engine_unavailable']),
  },
};

function describeOperation(operation: Operation, needsToken: boolean, schemas: SchemaConverter): JsonSchema {
  const { id, tag, summary, description, params, query, body, bodyOptional, bodyExample, answers, problems } =
    operation;
  const codes = [...new Set([...hostProblems(operation, needsToken), ...problems])];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(needsToken ? {} : { security: [] }),
    parameters: [...parametersOf('path', params, schemas), ...parametersOf('query', query, schemas)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: bodyOptional !== true,
            content: { 'application/json': { schema: schemas.convert(body, 'input'), ...exampleOf(bodyExample) } },
          },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, spec]) => [status, describeAnswer(spec, schemas)])),
      ...problemResponses(codes),
    },
  };
}

function parametersOf(place: 'path' | 'query', schema: z.ZodType | undefined, schemas: SchemaConverter): JsonSchema[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.convert(schema, 'input') as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...inner }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: inner,
  }));
}

function describeAnswer(spec: AnswerSpec, schemas: SchemaConverter): JsonSchema {
  const { description, schema, example, mediaType = 'application/json', headers } = spec;
  return {
    description,
    ...(headers === undefined ? {} : { headers: headersOf(headers) }),
    ...(schema === undefined
      ? {}
      : { content: { [mediaType]: { schema: schemas.convert(schema, 'output'), ...exampleOf(example) } } }),
  };
}

function headersOf(headers: Readonly<Record<string, string>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function exampleOf(example: unknown): JsonSchema {
  return example === undefined ? {} : { example };
}

/** One response for each status; several codes of one status are examples of it. */
function problemResponses(codes: readonly ProblemCode[]): JsonSchema {
  const statuses = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = PROBLEMS[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return Object.fromEntries([...statuses].map(([status, group]) => [status, describeProblems(group)]));
}

function describeProblems(codes: readonly ProblemCode[]): JsonSchema {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: problemBody(problem(code, PROBLEMS[code].title)) }]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('\n'),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, examples } },
  };
}
