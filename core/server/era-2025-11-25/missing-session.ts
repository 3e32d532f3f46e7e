import { CODE } from '../../mcp/errors.ts';
import type { MissingSession } from './sessions/sessions.ts';

/** Codes that the SDKs of this era use; clients evaluate only the status. */
export const NO_SESSION = -32000;
const UNKNOWN_SESSION = -32001;

/** What a request without a usable session is answered with. */
export const MISSING = {
  unknown: { status: 404, code: UNKNOWN_SESSION, text: 'the session is unknown or has ended: initialize again' },
  full: { status: 503, code: CODE.internalError, text: 'the gateway has reached its limit of sessions' },
  away: { status: 503, code: CODE.internalError, text: 'the session store does not answer: retry later' },
  stopping: { status: 503, code: CODE.internalError, text: 'the gateway is stopping: retry later' },
  tooLarge: {
    status: 413,
    code: CODE.invalidParams,
    text: 'capabilities and clientInfo are too large',
  },
} as const satisfies Record<MissingSession | 'tooLarge' | 'stopping', object>;

/** Headers of the responses with status 503. */
export const RETRY_LATER: Readonly<Record<string, string>> = { 'retry-after': '1' };
