import { z } from 'zod';

/** What a schema says to the API server beside JSON Schema. The generator of CRDs reads it from `meta()`. */
export interface KubeMeta {
  readonly rules?: readonly Rule[];
  /** Key of the section of a vmcp file whose schema is used, such as `rateLimiting`; `/` leads into it: `aggregation/tools/*`. */
  readonly section?: string;
  /** What the schema of the section gets in objects, by path: `a.b`, `[]` for items, `*` for values of a map. */
  readonly within?: Readonly<Record<string, Addition>>;
  /** Secrets in the section are named by `name` and `key` only. */
  readonly namedSecrets?: true;
  /** Lists only. Source: Kubernetes `x-kubernetes-list-type`. */
  readonly listType?: 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** Objects of any shape. Source: Kubernetes `x-kubernetes-preserve-unknown-fields`. */
  readonly preserveUnknown?: true;
  /** An integer or a text, such as `100m`. */
  readonly intOrString?: true;
  readonly format?: 'int32' | 'int64' | 'date-time';
}

/**
 * A rule between fields of one object, in CEL as the API server evaluates it, with `self` as the value of the schema that
 * holds it (`meta({ rules })`). `toolmgr vmcp validate` evaluates the same text. Source: Kubernetes `x-kubernetes-validations`.
 */
export interface Rule {
  readonly rule: string;
  /** What is wrong and what was expected. */
  readonly message: string;
  /** Path of the field at fault below `self`, such as `.authzConfig`. */
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueDuplicate';
}

/** The member is there exactly when `type` has the value. */
export function onlyWithType(member: string, type = member): Rule {
  return {
    rule: `self.type == '${type}' ? has(self.${member}) : !has(self.${member})`,
    message: `${member} must be set when type is ${type}, and only then`,
    fieldPath: `.${member}`,
  };
}

/** The member may be there only when a rule holds. */
export const forbidden = (key: string, rule: string, message: string): Rule => ({
  rule: `!has(self.${key}) || ${rule}`,
  message,
  fieldPath: `.${key}`,
  reason: 'FieldValueForbidden',
});

/** The member must be there when a condition holds. */
export const requires = (key: string, isNeeded: string, message: string): Rule => ({
  rule: `!(${isNeeded}) || has(self.${key})`,
  message,
  fieldPath: `.${key}`,
  reason: 'FieldValueRequired',
});

/** What a schema of a section gets in objects beside what its plugin declares. */
export interface Addition {
  readonly rules?: readonly Rule[];
  /** Members that must be absent, with the reason. They stay in the schema: the API server drops unknown members unseen. */
  readonly forbidden?: Readonly<Record<string, string>>;
  /** All required members. */
  readonly required?: readonly string[];
  readonly listMapKeys?: readonly string[];
  readonly listType?: 'set';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** The schema with more {@link KubeMeta}. */
export function kube<S extends z.ZodType>(schema: S, meta: KubeMeta): S {
  return schema.meta({ ...schema.meta(), ...meta }) as S;
}

/** The schema of a section of a vmcp file, as its plugin declares it. `T`: what is read of it here. */
export function ofSection<T = Readonly<Record<string, unknown>>>(
  section: string,
  meta?: Pick<KubeMeta, 'within' | 'namedSecrets'>,
): z.ZodType<T, T> {
  return kube(z.unknown(), { section, ...meta }) as unknown as z.ZodType<T, T>;
}

/** A text of 1 to `max` characters. */
export function text(max: number) {
  return z.string().min(1).max(max);
}

/** A name of another object. */
export const objectName = text(253);

/** A key of a Secret in the same namespace. */
export const secretKeyRef = z.strictObject({
  name: objectName.describe('name of the Secret'),
  key: text(253).describe('key in the Secret'),
});

/** A key of a ConfigMap with CA certificates. */
export const caBundleRef = z
  .strictObject({
    configMapRef: z.strictObject({
      name: objectName.describe('name of the ConfigMap'),
      key: text(253).default('ca.crt').describe('key in the ConfigMap'),
    }),
  })
  .describe('CA certificates as PEM in a ConfigMap of the same namespace');

/** An http or https URL. */
export const httpUrl = text(2048).regex(/^https?:\/\/[^\s/]+/, 'expected an http or https URL');

/** An https URL. */
export const httpsUrl = text(2048).regex(/^https:\/\/[^\s/]+/, 'expected an https URL');

/** A 32-bit integer of at least `min`. */
export function int32(min = 0) {
  return kube(z.int().min(min).max(2_147_483_647), { format: 'int32' });
}

/** Texts by name. */
export const texts = z.record(z.string(), z.string());

const MAX_SCOPES = 100;
/** OAuth scopes. */
export const scopes = z.array(text(256)).max(MAX_SCOPES);

/** Characters of a duration with bounds, which the API server reads in a rule. */
export const MAX_DURATION = 64;

/** Bounds of a Go duration, inclusive. Other texts are refused by the pattern of the field. */
export function durationRule(least: string, most?: string): Rule {
  const range = most === undefined ? '' : ` && duration(self) <= duration('${most}')`;
  return {
    rule: `!self.matches('^([0-9.]+(ns|us|µs|ms|s|m|h))+$') || (duration(self) >= duration('${least}')${range})`,
    message: most === undefined ? `must be at least ${least}` : `must be from ${least} to ${most}`,
  };
}
