import { InvalidArgumentError } from 'commander';

/** Reads a port for commander. */
export function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a number from 0 to 65535');
}
