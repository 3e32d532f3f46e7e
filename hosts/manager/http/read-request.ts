import { type FieldProblem, type Operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { explainFields } from './explain-fields.ts';

/** The validated parts of a request. */
export interface RequestParts {
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

const NOTHING = z.strictObject({});

/** The parts of a request before validation. */
export interface RawParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Makes the function that validates the requests of an operation. All faults of a request are reported at once. */
export function createRequestReader(operation: Operation): (request: RawParts) => RequestParts | Problem {
  const { params = NOTHING, query = NOTHING } = operation;
  const body = bodySchema(operation);
  return (request) => {
    const faults: FieldProblem[] = [];
    const read = (part: FieldProblem['in'], schema: z.ZodType, value: unknown): unknown => {
      const result = schema.safeParse(value);
      if (!result.success) faults.push(...explainFields(part, schema, result.error));
      return result.data;
    };
    if (operation.body !== undefined && operation.bodyOptional !== true && request.body === undefined) {
      faults.push({ in: 'body', path: '', detail: 'a JSON body is required' });
    }
    const parts = {
      path: read('path', params, { ...(request.params as object) }),
      query: read('query', query, withLists(query, { ...(request.query as object) })),
      body: faults.length > 0 && request.body === undefined ? undefined : read('body', body, request.body),
    };
    return faults.length === 0 ? parts : invalid(faults);
  };
}

/** A parameter that is given once is a list too, where its schema is one. */
function withLists(schema: z.ZodType, query: Readonly<Record<string, unknown>>): unknown {
  const shape = (schema as { readonly shape?: Readonly<Record<string, z.core.$ZodType>> }).shape ?? {};
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' && isList(shape[name]) ? [value] : value,
    ]),
  );
}

function isList(schema: z.core.$ZodType | undefined): boolean {
  const { type, innerType } = (schema?._zod.def ?? {}) as {
    readonly type?: string;
    readonly innerType?: z.core.$ZodType;
  };
  return type === 'array' || (innerType !== undefined && isList(innerType));
}

/** An operation without a body accepts none or an empty object, which some clients always send. */
function bodySchema({ body, bodyOptional }: Operation): z.ZodType {
  if (body === undefined) return NOTHING.optional();
  return bodyOptional === true ? body.optional() : body;
}

function invalid(faults: readonly FieldProblem[]): Problem {
  const [first] = faults;
  const rest = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  return problem('bad_request', `${first === undefined ? '' : describe(first)}${rest}`, faults);
}

function describe({ in: part, path, detail }: FieldProblem): string {
  return `${part}${path === '' ? '' : ` ${path}`}: ${detail}`;
}
