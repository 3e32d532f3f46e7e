import type { Refusal } from '@toolmgr/core';
import { FAULTS, type FaultCode } from '../../core/errors.ts';
import { CODE } from '../../core/mcp/errors.ts';
import { CODE_FIXES, FAULT_FIXES } from './error-fixes.ts';
import { code, page, sentence, table } from './markdown.ts';

/** Meaning of each JSON-RPC code. */
export const CODE_PROSE = {
  parseError: 'the body is not JSON',
  invalidRequest: 'the body is not one JSON-RPC request, or is over a limit',
  methodNotFound: 'the method is not served in this era, or no client can answer the request of a backend',
  invalidParams: 'params have a wrong shape, a name or cursor is unknown, or a `requestState` does not open',
  internalError: 'a plugin or a backend failed; the text names no internals of the gateway',
  legacyResourceNotFound: 'unknown resource, towards 2025-11-25 clients only',
  legacyUrlElicitationRequired: 'from 2025-11-25 backends; relayed unchanged to clients of that era only',
  headerMismatch: 'a mirrored header is missing or differs from the body (2026-07-28)',
  missingCapability: 'the call needs a capability that the client did not declare (2026-07-28)',
  unsupportedVersion: 'the protocol version is not served (2026-07-28)',
} as const satisfies Record<keyof typeof CODE, string>;

/** When a plugin refuses with each status. */
export const REFUSAL_PROSE = {
  401: 'the caller is not known; `www-authenticate` goes into `headers`',
  403: 'the caller may not do this',
  413: 'the request is too large to be checked',
  422: 'the request is understood and not acceptable, e.g. to a webhook that changes calls',
  429: 'a rate limit; `retryAfterMs` says when to try again',
  503: 'undecided for now, e.g. while an identity provider is unavailable; `retryAfterMs` says when to try again',
} as const satisfies Record<Refusal['status'], string>;

/** docs/reference/errors.md */
export function errorsPage(): string {
  return page('Errors', '`core/errors.ts` and `core/mcp/errors.ts`', [
    'Every code of an error with its cause and what to do about it. There are three kinds of failure. A **refusal** is the expected decision of a plugin: a value with one of [these statuses](#refusals). A **tool failure** is a result with `isError: true`, which the model reads. A **fault** is an error of the gateway, its configuration or a backend: an exception with a code of the first table.',
    '## Faults',
    'A fault at boot stops the start; its message names path, value and fix. When a fault fails a whole HTTP request, the client gets the HTTP status. In a JSON-RPC response, a `BACKEND_*` fault is a tool failure with the code (for `tools/call`) or error -32603 (for other methods); every other fault is -32603 without internals. The cause is logged.',
    table(
      ['code', 'HTTP', 'cause', 'fix'],
      Object.entries(FAULTS).map(([name, { status, means }]) => [
        code(name),
        String(status),
        sentence(means),
        sentence(FAULT_FIXES[name as FaultCode]),
      ]),
    ),
    '## Refusals',
    'A plugin refuses with `{ refused: true, status, reason, retryAfterMs?, headers? }`. The `reason` is sent to the client. `retryAfterMs` is the time in whole milliseconds until the same request may succeed; only 429 and 503 have it, and one second is assumed without it.',
    table(
      ['status', 'meaning'],
      Object.entries(REFUSAL_PROSE).map(([status, means]) => [status, sentence(means)]),
    ),
    'A request that is refused in `authenticate` gets this HTTP status, with `Retry-After` in seconds for 429 and 503. A call that is refused later gets a JSON-RPC error whose code is the status, with the same HTTP status; a 503 has `Retry-After` and `data.retryAfterSeconds`. A rate-limited call is the exception: its HTTP status is 200, the seconds are in `data.retryAfterSeconds`, and a client of 2025-11-25 gets the result of a failed tool (`isError: true`) for `tools/call`.',
    '## JSON-RPC codes',
    'Codes of the gateway itself. The JSON-RPC error of a backend is forwarded with its code, message, data and other members, except codes about the connection between gateway and backend ([protocol](protocol.md#errors)).',
    table(
      ['code', 'name', 'cause', 'fix'],
      Object.entries(CODE).map(([name, number]) => [
        code(String(number)),
        name,
        sentence(CODE_PROSE[name as keyof typeof CODE]),
        sentence(CODE_FIXES[name as keyof typeof CODE]),
      ]),
    ),
  ]);
}
