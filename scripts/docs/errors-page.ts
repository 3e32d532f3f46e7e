import { FAULTS } from '@toolmgr/core';
import { CODE } from '../../core/mcp/errors.ts';
import { code, page, sentence, table } from './markdown.ts';

/** What each JSON-RPC code means here. */
export const CODE_PROSE = {
  parseError: 'the body is not JSON',
  invalidRequest: 'the body is not one JSON-RPC request, or is over a limit',
  methodNotFound: 'the method is not served in this era, or nobody can be asked what a backend asks',
  invalidParams: 'params have a wrong shape, a name or cursor is unknown, or a `requestState` does not open',
  internalError: 'a plugin or a backend failed; the text names no internals of the gateway',
  legacyResourceNotFound: 'unknown resource, towards 2025-11-25 clients only',
  legacyUrlElicitationRequired: 'read from 2025-11-25 backends; relayed as it is to clients of that era only',
  headerMismatch: 'a mirrored header is missing or differs from the body (2026-07-28)',
  missingCapability: 'the call needs a capability that the client did not declare (2026-07-28)',
  unsupportedVersion: 'the protocol version is not served (2026-07-28)',
} as const satisfies Record<keyof typeof CODE, string>;

/** docs/reference/errors.md */
export function errorsPage(): string {
  return page('Errors', '`core/errors.ts` and `core/mcp/errors.ts`', [
    'Three different things are kept apart. A **refusal** is an expected no of a plugin: a value with status 401, 403 or 429. A **tool failure** is a result with `isError: true`: the model reads it. A **fault** is something broken: an exception with a code of the first table.',
    '## Faults',
    'Faults at boot stop the start and name path, value and fix. The HTTP status is what a client sees where the fault decides a whole HTTP request; inside a JSON-RPC conversation a `BACKEND_*` fault is a tool failure that carries the code (for `tools/call`) or error -32603 (for every other method), and everything else is -32603 without internals. The cause goes to the log.',
    table(
      ['code', 'HTTP', 'means'],
      Object.entries(FAULTS).map(([name, { status, means }]) => [code(name), String(status), sentence(means)]),
    ),
    '## JSON-RPC codes',
    'Codes that the gateway itself answers. The JSON-RPC error of a backend travels to the client with its own code, message, data and other members, but for the codes that speak of the gateway’s own hop ([protocol](protocol.md#errors)).',
    table(
      ['code', 'name', 'means'],
      Object.entries(CODE).map(([name, number]) => [
        code(String(number)),
        name,
        sentence(CODE_PROSE[name as keyof typeof CODE]),
      ]),
    ),
  ]);
}
