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
      query: read('query', query, { ...(request.query as object) }),
      body: faults.length > 0 && request.body === undefined ? undefined : read('body', body, request.body),
    };
    return faults.length === 0 ? parts : invalid(faults);
  };
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
