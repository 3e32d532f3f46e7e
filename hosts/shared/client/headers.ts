import { FIELD_NAME } from '@toolmgr/core';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../shared/usage-error.ts';

/** Adds the options with which a command authenticates. */
export function withHeaders(command: Command): Command {
  return command
    .addOption(
      new Option('--header <header>', 'request header "Name: value"; may be repeated')
        .argParser(collectHeader)
        .default([], 'none'),
    )
    .option('--token-env <name>', 'environment variable with the bearer token to send');
}

/**
 * The headers of a request, from `--header` and `--token-env`.
 * @throws UsageError when the variable is not set
 */
export function headersOf(lines: readonly string[], tokenEnv: string | undefined): Record<string, string> {
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
  if (tokenEnv === undefined) return headers;
  const token = process.env[tokenEnv];
  if (!token) throw new UsageError(`--token-env: the variable ${tokenEnv} is not set`);
  return { ...headers, authorization: `Bearer ${token.trim()}` };
}

function collectHeader(text: string, before: readonly string[]): readonly string[] {
  const [name = '', ...value] = text.split(':');
  if (FIELD_NAME.test(name) && value.join(':').trim() !== '') return [...before, text];
  throw new InvalidArgumentError('expected "Name: value"');
}
