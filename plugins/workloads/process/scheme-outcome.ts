/** The command for a protocol scheme. */
export interface SchemeCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that the package runner needs in addition to the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The result of resolving a protocol scheme. */
export type SchemeOutcome =
  | {
      readonly kind: 'command';
      readonly command: SchemeCommand;
      /** What runs it; `installed` and `built` need no network. */
      readonly via: 'installed' | 'npx' | 'uvx' | 'go' | 'built';
    }
  | { readonly kind: 'refused'; readonly reason: string };
