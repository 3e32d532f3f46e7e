import type { Operation, ProblemCode } from '@toolmgr/plugins/kit/operations';

/** Problems that the host answers with for an operation, beside those that the operation declares. */
export function hostProblems(
  operation: Pick<Operation, 'method' | 'timeLimit'>,
  needsToken: boolean,
): readonly ProblemCode[] {
  return [
    'bad_request',
    ...(needsToken ? (['unauthorized'] as const) : []),
    'forbidden',
    'method_not_allowed', // the path is also one of a wider path, e.g. `{name}` with the value `content`
    'request_timeout',
    ...(operation.method === 'GET' ? [] : (['body_too_large', 'unsupported_media_type'] as const)),
    'uri_too_long',
    'headers_too_large',
    'internal_error',
    'not_implemented', // an optional package is missing
    'stopping',
    ...(operation.timeLimit === 'stream' ? [] : (['time_limit'] as const)),
  ];
}
