/**
 * Every problem that an operation of the manager can answer with: the HTTP status, and the title of RFC 9457. The reference
 * page and the OpenAPI document are generated from this table.
 */
export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'A valid bearer token is needed' },
  upstream_unauthorized: { status: 401, title: 'The remote service refused the credentials' },
  forbidden: { status: 403, title: 'This is not allowed' },
  signature_refused: { status: 403, title: 'The signature was refused' },
  not_found: { status: 404, title: 'There is no such resource' },
  method_not_allowed: { status: 405, title: 'The path is not served with this method' },
  provider_read_only: { status: 405, title: 'The provider cannot do this' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'The resource exists already or is in use' },
  precondition_failed: { status: 412, title: 'The resource was changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  unprocessable: { status: 422, title: 'The request is valid but cannot be carried out' },
  upstream_rate_limited: { status: 429, title: 'The remote service allows no more requests now' },
  too_many_streams: { status: 429, title: 'Too many streams are open' },
  headers_too_large: { status: 431, title: 'The header is too large' },
  internal_error: { status: 500, title: 'The manager failed' },
  not_implemented: { status: 501, title: 'This is not available here' },
  upstream_failed: { status: 502, title: 'The remote service gave no usable answer' },
  registry_legacy_format: { status: 502, title: 'The registry has the legacy format' },
  registry_auth_required: { status: 503, title: 'The registry needs a sign-in' },
  registry_unavailable: { status: 503, title: 'The registry is not available' },
  engine_unavailable: { status: 503, title: 'No container engine answers' },
  identity_unavailable: { status: 503, title: 'Tokens cannot be verified now' },
  stopping: { status: 503, title: 'The manager is stopping' },
  time_limit: { status: 504, title: 'The operation took longer than its time limit' },
  upstream_timeout: { status: 504, title: 'The remote service did not answer in time' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

/** A code of {@link PROBLEMS}. */
export type ProblemCode = keyof typeof PROBLEMS;

/** One wrong member of a request. `path` as in `config.env_vars.TOKEN`; empty for the whole body. */
export interface FieldProblem {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly path: string;
  readonly detail: string;
}

/** A refusal of an operation. `detail` is one sentence that says what is wrong and how to mend it, without secrets. */
export interface Problem {
  readonly problem: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
}

/** A refusal. Faults that no user can mend are exceptions and become `internal_error`. */
export function problem(code: ProblemCode, detail: string, errors?: readonly FieldProblem[]): Problem {
  return { problem: code, detail, ...(errors === undefined ? {} : { errors }) };
}

/** The body of a refusal: RFC 9457 `application/problem+json`. `code` and `errors` are members of our own. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly errors?: readonly FieldProblem[];
}

/** Converts a refusal to its body. */
export function problemBody({ problem: code, detail, errors }: Problem): ProblemBody {
  const { status, title } = PROBLEMS[code];
  return {
    type: `https://toolmgr.dev/problems/${code}`,
    title,
    status,
    detail,
    code,
    ...(errors === undefined ? {} : { errors }),
  };
}
