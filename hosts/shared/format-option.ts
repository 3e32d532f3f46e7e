import { Option } from 'commander';

/** `--format`: text for people or JSON. */
export function formatOption(): Option {
  return new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text');
}
