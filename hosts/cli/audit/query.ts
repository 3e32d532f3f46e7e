import type { JsonObject } from '@toolmgr/core';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { stdout } from '../../shared/terminal.ts';
import { auditLines, eventOf, memberAt, withRotatedParts } from '../../vmcp/audit-files.ts';

/** Options of `audit query`; an event must match all that are given. */
export interface QueryOptions {
  readonly type?: string;
  readonly outcome?: string;
  readonly user?: string;
  readonly name?: string;
  readonly backend?: string;
  readonly request?: string;
  /** Epoch milliseconds. */
  readonly since?: number;
  readonly until?: number;
  readonly last?: number;
  readonly rotated?: boolean;
  readonly format: 'text' | 'json';
}

/** Prints the matching events: a line each, or with `json` the lines as they are in the file. */
export async function query(given: readonly string[], options: QueryOptions): Promise<void> {
  const { rotated, last, format } = options;
  const kept: string[] = [];
  for await (const line of auditLines(rotated === true ? await withRotatedParts(given) : given)) {
    const event = eventOf(line);
    if (event === undefined || !matches(event, options)) continue;
    const shown = format === 'json' ? line.text.toString('utf8') : textOf(event);
    if (last === undefined) stdout.line(shown);
    else if (kept.push(shown) > last) kept.shift();
  }
  for (const shown of kept) stdout.line(shown);
}

function matches(event: JsonObject, { since, until, ...wanted }: QueryOptions): boolean {
  const atMs = Date.parse(String(event.logged_at ?? ''));
  if (since !== undefined && !(atMs >= since)) return false;
  if (until !== undefined && !(atMs < until)) return false;
  return FILTERS.every(([option, ...paths]) => {
    const value = wanted[option];
    return value === undefined || paths.some((path) => memberAt(event, path) === value);
  });
}

/** Where an event has what an option names. Source: `plugins/audit/audit-line.ts`. */
const FILTERS: readonly (readonly ['type' | 'outcome' | 'user' | 'name' | 'backend' | 'request', ...string[]])[] = [
  ['type', 'type'],
  ['outcome', 'outcome'],
  ['user', 'subjects.user', 'subjects.user_id'],
  ['name', 'target.name'],
  ['backend', 'metadata.extra.backend_name', 'target.backend'],
  ['request', 'source.extra.request_id'],
];

function textOf(event: JsonObject): string {
  const why = memberAt(event, 'metadata.extra.refusal') ?? memberAt(event, 'metadata.extra.jsonrpc_error_message');
  const parts = [
    event.logged_at,
    event.type ?? event.msg,
    event.outcome,
    memberAt(event, 'subjects.user'),
    memberAt(event, 'target.name') ?? memberAt(event, 'target.method'),
    why === undefined ? undefined : `(${why})`,
  ];
  return oneLine(parts.filter((part) => part !== undefined).join('  '));
}
