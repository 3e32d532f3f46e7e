/** One option of the command: with its help text, or with the feature it comes with if it is not available yet. */
export interface RunOption {
  /** In commander's notation: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly description?: string;
  readonly availableWith?: string;
  readonly fallback?: unknown;
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
}
