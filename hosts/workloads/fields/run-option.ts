import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { z } from 'zod';

/** Objects of a run configuration whose members are set by one option each. */
type Section =
  | ('runtime_config' | 'resource_limits' | 'header_forward' | 'remote_auth_config')
  | ('oidc_config' | 'token_exchange_config' | 'telemetry_config');

type MemberOf<S extends Section> = `${S}.${keyof NonNullable<RunConfig[S]> & string}`;

/** A field of a run configuration, or a member of one. */
export type StoredField = keyof RunConfig | { [S in Section]: MemberOf<S> }[Section];

/** What a field of a workload is in the HTTP API: in bodies, and in the details of a workload. */
export interface BodyMember {
  /** Its place: `proxy_port`, or `oidc.issuer` in an object. */
  readonly name: string;
  /** Its sentence in the reference of the API; default: that of the option. */
  readonly says?: string;
  /** The values that a body may have; default: what the schema of the field has. */
  readonly accepts?: z.ZodType;
  /** The values in details; default: the type of the field. */
  readonly shows?: z.ZodType;
  /** Shown when it is not set; default: empty, 0 or false. */
  readonly empty?: unknown;
  /** A function of its own converts it to what is stored. */
  readonly own?: true;
}

/** A field of a workload. */
export interface WorkloadField {
  /** Where its value is stored; absent: it is not, or more than this field decides about it. */
  readonly stored?: StoredField;
  /** Values that may be secret are hidden where it is shown. */
  readonly hidden?: 'map' | 'list' | 'url';
  /** Absent: no body can say it. */
  readonly body?: BodyMember;
  /**
   * How an option is stored, when not as it was read: a secret as its reference, a path absolute, a file with a secret the same after it
   * was read once, and `own` by a function of its own. Secrets by name are stored each, with their number.
   */
  readonly as?: 'secret' | 'path' | 'secretFile' | 'own';
  readonly description?: string;
}

/** A field that an option of the command sets. */
export interface RunOption extends WorkloadField {
  /** In commander's notation: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly fallback?: unknown;
  /** What is stored without it when another option of its section is given; a function gets the flags and the name of the workload. */
  readonly absent?:
    | string
    | boolean
    | readonly string[]
    | ((flags: Readonly<Record<string, unknown>>, name: string) => unknown);
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
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

type BodyField = WorkloadField & { readonly body: BodyMember };

type StoredValue<S> = S extends `${infer Section}.${infer Member}`
  ? Section extends keyof RunConfig
    ? Member extends keyof NonNullable<RunConfig[Section]>
      ? NonNullable<RunConfig[Section]>[Member]
      : never
    : never
  : S extends keyof RunConfig
    ? RunConfig[S]
    : never;

type BodyValue<F extends BodyField> = F['body'] extends { accepts: z.ZodType<infer Value> }
  ? Value
  : NonNullable<StoredValue<F['stored']>>;

type InSection<F extends BodyField> = Extract<F, { body: { name: `${string}.${string}` } }>;

type SectionOf<F extends BodyField> = InSection<F>['body']['name'] extends `${infer Name}.${string}` ? Name : never;

/** The members of a body. */
export type BodyOf<Fields extends WorkloadField, F extends BodyField = Extract<Fields, { body: BodyMember }>> = {
  [Each in Exclude<F, InSection<F>> as Each['body']['name']]?: BodyValue<Each> | undefined;
} & {
  [S in SectionOf<F>]?:
    | {
        [Each in InSection<F> as Each['body']['name'] extends `${S}.${infer Member}` ? Member : never]?:
          | BodyValue<Each>
          | undefined;
      }
    | undefined;
};
