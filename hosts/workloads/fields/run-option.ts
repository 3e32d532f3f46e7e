import type { RunConfig } from '@toolmgr/plugins/kit/workloads';

/** Objects of a run configuration whose members are set by one option each. */
type Section =
  | ('runtime_config' | 'resource_limits' | 'header_forward' | 'remote_auth_config')
  | ('oidc_config' | 'token_exchange_config' | 'telemetry_config');

type MemberOf<S extends Section> = `${S}.${keyof NonNullable<RunConfig[S]> & string}`;

/** A field of a run configuration, or a member of one. */
export type StoredField = keyof RunConfig | { [S in Section]: MemberOf<S> }[Section];

/** One option of the command: with its help text. */
export interface RunOption {
  /** In commander's notation: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly description?: string;
  readonly fallback?: unknown;
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
  /** Where its value is stored; absent: it is not, or more than this option decides about it. */
  readonly stored?: StoredField;
  /**
   * How it is stored, when not as it was read: a secret as its reference, a path absolute, and a file with a secret the same after it was
   * read once.
   */
  readonly as?: 'secret' | 'path' | 'secretFile';
}

type Camel<Name extends string> = Name extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : Name;

type LongName<Flags extends string> = Flags extends `${string}--${infer Rest}`
  ? Rest extends `${infer Name} ${string}`
    ? Name
    : Rest
  : never;

type ValueOf<Option extends RunOption> = Option extends { read: (text: string, before: unknown) => infer Value }
  ? Readonly<Value>
  : Option extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Option['flags'] extends `${string}<${string}`
      ? string
      : boolean;

type WithFallback = { readonly fallback: unknown };

/** The parsed values of options, by the names that commander makes: `--proxy-port` is `proxyPort`. */
export type FlagsOf<Options extends RunOption> = {
  readonly [O in Options as O extends WithFallback ? Camel<LongName<O['flags']>> : never]: ValueOf<O>;
} & {
  readonly [O in Options as O extends WithFallback ? never : Camel<LongName<O['flags']>>]?: ValueOf<O>;
};
