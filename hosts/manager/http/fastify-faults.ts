import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { HTTP_LIMITS } from './limits.ts';

/** An error that fastify raises before an operation runs. */
interface FastifyFault {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message: string;
}

/** The refusal for an error of fastify; `undefined` for a fault of the manager. */
export function problemFromFault(fault: FastifyFault): Problem | undefined {
  const known = FAULTS[fault.code ?? ''];
  if (known !== undefined) return known(fault);
  const { statusCode = 500, message } = fault;
  return statusCode >= 400 && statusCode < 500 ? problem('bad_request', lowerFirst(message)) : undefined;
}

const FAULTS: Readonly<Record<string, (fault: FastifyFault) => Problem>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => problem('body_too_large', `the body is larger than ${HTTP_LIMITS.bodyBytes} bytes`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    problem('unsupported_media_type', 'send the header "Content-Type: application/json"'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    problem('bad_request', 'Content-Length differs from the length of the body'),
  FST_ERR_BAD_URL: () =>
    problem('bad_request', 'the path is not a valid URL: a % must be followed by two hexadecimal digits'),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    problem('uri_too_long', `a segment of the path is longer than ${HTTP_LIMITS.parameterLength} characters`),
  TOOLMGR_JSON: ({ message }) => problem('bad_request', message),
};

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
