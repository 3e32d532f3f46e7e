import { InvalidArgumentError } from 'commander';

/** The option of every command with a gateway. */
export const MEMORY_BUDGET = {
  flags: '--memory-budget <size>',
  description: 'memory for requests and results in flight, e.g. 256MiB (default: a third of the limit)',
} as const;

/** Reads the value of the option as bytes. @throws InvalidArgumentError */
export function memorySizeFrom(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})(KiB|MiB|GiB)?$/i.exec(text) ?? [];
  const bytes = Number(digits) * (SIZE_UNITS[unit.toLowerCase()] ?? 1);
  if (digits !== '' && bytes > 0) return bytes;
  throw new InvalidArgumentError('expected bytes, or a size such as 256MiB or 2GiB');
}

const SIZE_UNITS: Readonly<Record<string, number>> = { kib: 1_024, mib: 1_048_576, gib: 1_073_741_824 };
