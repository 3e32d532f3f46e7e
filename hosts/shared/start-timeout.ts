import { durationMs } from '@toolmgr/plugins/kit/settings';
import { InvalidArgumentError } from 'commander';

/** Reads the value of `--start-timeout` as milliseconds. @throws InvalidArgumentError */
export function startTimeoutFrom(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined && ms >= LEAST_MS) return ms;
  throw new InvalidArgumentError('expected a duration of 1s or more, such as 5m');
}

const LEAST_MS = 1_000;
