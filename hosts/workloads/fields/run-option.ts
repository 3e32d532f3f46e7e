/** One option of the command: with its help text. */
export interface RunOption {
  /** In commander's notation: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly description?: string;
  readonly fallback?: unknown;
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
}
