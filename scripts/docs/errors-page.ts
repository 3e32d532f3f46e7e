import { FAULTS, type FaultCode } from '@toolmgr/core';
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

/** docs/reference/errors.md */
export function errorsPage(): string {
  return page('Errors', '`core/errors.ts` and `core/mcp/errors.ts`', [
    'Every code of an error with its cause and what to do about it. There are three kinds of failure. A **refusal** is the expected decision of a plugin: a value with status 401, 403 or 429. A **tool failure** is a result with `isError: true`, which the model reads. A **fault** is an error of the gateway, its configuration or a backend: an exception with a code of the first table.',
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
