import { InvalidArgumentError } from 'commander';

/** The flag that allows origins, and how refusals name it. */
export const ALLOWED_ORIGINS = {
  name: '--allowed-origins',
  flags: '--allowed-origins <LIST>',
  description:
    'origins of pages that may connect, comma-separated, besides that of the endpoint itself (default: MCP Inspector at http://localhost:6274)',
} as const;

/** Reads a comma-separated list of origins, exactly as browsers send them; a repeated flag adds. @throws InvalidArgumentError */
export function readOrigins(text: string, before: unknown): string[] {
  const given = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (given.every((origin) => URL.parse(origin)?.origin === origin.toLowerCase()))
    return [...new Set([...((before as string[] | undefined) ?? []), ...given])];
  throw new InvalidArgumentError('expected an origin such as https://app.example.com, without a path');
}
