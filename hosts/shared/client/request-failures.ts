import { isObject, type JsonObject, parsedJson } from '@toolmgr/core';
import { ownCommand } from '../../shared/own-command.ts';
import { printable } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** The error of a JSON-RPC answer, if the text is one. */
export function rpcErrorIn(text: string): JsonObject | undefined {
  const value = parsedJson(text);
  return isObject(value) && isObject(value.error) ? value.error : undefined;
}

/** Nothing came from the server for the timeout. */
export function silence(url: string, timeoutMs: number): UsageError {
  return new UsageError(`${url} was silent for ${timeoutMs / 1000} s; --timeout 5m waits longer`);
}

/** The server refuses the caller, with the reason of its challenge or of its JSON-RPC error. */
export function refusal(url: string, status: number, challenge: string, error: JsonObject | undefined): UsageError {
  const why = descriptionIn(challenge) ?? (typeof error?.message === 'string' ? error.message : undefined);
  return new UsageError(
    `${url} refuses this caller (HTTP ${status}${why === undefined ? '' : `: ${printable(why)}`}); pass credentials: --header "Authorization: Bearer …"`,
  );
}

/** `error_description` of a challenge, as a quoted string or a token. Source: RFC 6750 §3. */
function descriptionIn(challenge: string): string | undefined {
  const [, quoted, token] = /(?:^|[\s,])error_description=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/i.exec(challenge) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? token;
}

/** What an error of the connection means. */
export function unreachable(url: string, timeoutMs: number, cause: unknown): UsageError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') {
    return new UsageError(
      `nothing answers at ${url}; start a gateway (${ownCommand('up FILE')}), or give the address of one with --url (${ownCommand('status')} lists those that run)`,
    );
  }
  if (code.includes('TIMEOUT')) return silence(url, timeoutMs);
  return new UsageError(`${url} cannot be reached (${code === '' ? String(cause) : code})`);
}
