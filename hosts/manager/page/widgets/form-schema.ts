/** The parts of JSON Schema that a form shows. Anything else is edited as JSON. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  /** What a person reads for each value of `enum`. */
  readonly enumNames?: readonly string[];
  readonly const?: unknown;
  /** `secret`: a stored secret or a new value; `examples` are the names of the stored ones. */
  readonly format?: string;
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly required?: readonly string[];
  readonly items?: FormSchema;
  readonly additionalProperties?: FormSchema | boolean;
  readonly anyOf?: readonly FormSchema[];
  readonly oneOf?: readonly FormSchema[];
  readonly allOf?: readonly FormSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, FormSchema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** How a member is edited. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'lines'
  | 'secret'
  | 'object'
  | 'branches'
  | 'map'
  | 'items'
  | 'json';

/** A schema without references, unions with null and single branches. `root` is where `$ref` begins. */
export function plainSchema(schema: FormSchema, root: unknown, depth = 0): FormSchema {
  if (depth > MAX_DEPTH) return {};
  if (schema.$ref !== undefined) {
    const { $ref, ...rest } = schema;
    return plainSchema({ ...atPointer(root, $ref), ...rest }, root, depth + 1);
  }
  if (schema.allOf?.length === 1 && schema.allOf[0] !== undefined) {
    const { allOf, ...rest } = schema;
    return plainSchema({ ...allOf[0], ...rest }, root, depth + 1);
  }
  const branches = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null');
  if (branches?.length === 1 && branches[0] !== undefined) {
    const { anyOf: _, oneOf: __, ...rest } = schema;
    return plainSchema({ ...branches[0], ...rest }, root, depth + 1);
  }
  // a constant, or a union of constants, is an enum
  if (branches?.length && branches.every((branch) => branch.const !== undefined)) {
    const { anyOf: _, oneOf: __, ...rest } = schema;
    const enumNames = branches.map((branch) => branch.title ?? String(branch.const));
    return { ...rest, enum: branches.map((branch) => branch.const), enumNames };
  }
  if (schema.const !== undefined) {
    const { const: constant, ...rest } = schema;
    return { ...rest, enum: [constant] };
  }
  return schema;
}

/**
 * The forms that a value may have: branches of a union with the members that all have, or types. None when the branches only restrict
 * the members of the schema itself.
 */
export function branchesOf(schema: FormSchema, root: unknown): readonly FormSchema[] {
  if (schema.enum !== undefined) return [];
  const { anyOf, oneOf, type, default: _, title: __, description: ___, ...rest } = schema;
  const branches = (anyOf ?? oneOf)
    ?.filter((branch) => branch.type !== 'null')
    .map((branch) => plainSchema(branch, root));
  if (branches === undefined) {
    const types = typeof type === 'string' ? [] : (type?.filter((one) => one !== 'null') ?? []);
    return types.map((one) => ({ ...rest, type: one }));
  }
  const { properties = {}, required = [] } = rest;
  if (schema.properties !== undefined) {
    const areForms = branches.some((one) =>
      Object.keys(one.properties ?? {}).some((name) => !Object.hasOwn(properties, name)),
    );
    if (!areForms) return [];
    return branches.map((one) => ({
      ...rest,
      ...one,
      properties: { ...properties, ...one.properties },
      required: [...required, ...(one.required ?? [])],
    }));
  }
  const areForms = branches.every((one) => one.type ?? one.properties ?? one.enum ?? one.anyOf ?? one.oneOf);
  return areForms ? branches : [];
}

/** How a plain schema is edited. */
export function kindOf(schema: FormSchema, root: unknown, depth = 0): FieldKind {
  if (schema.enum !== undefined) return 'choice';
  if (schema.format === 'secret') return 'secret';
  if (branchesOf(schema, root).length > 1) return 'branches';
  const type = singleType(schema);
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return listKind(plainSchema(schema.items ?? {}, root), root, depth + 1);
  if (type !== 'object' && schema.properties === undefined) return 'json';
  if (Object.keys(schema.properties ?? {}).length > 0) return 'object';
  return typeof schema.additionalProperties === 'object' ? 'map' : 'json';
}

function listKind(items: FormSchema, root: unknown, depth: number): FieldKind {
  const kind = depth > MAX_DEPTH ? 'json' : kindOf(items, root, depth);
  if (kind === 'choice') return 'choices';
  if (kind === 'text' || kind === 'number') return 'lines';
  return kind === 'json' ? 'json' : 'items';
}

function singleType({ type }: FormSchema): string | undefined {
  if (typeof type === 'string') return type;
  const named = type?.filter((one) => one !== 'null');
  return named?.length === 1 ? named[0] : undefined;
}

function atPointer(root: unknown, pointer: string): FormSchema {
  let at: unknown = root;
  for (const part of pointer.replace(/^#/, '').split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : {};
  }
  return typeof at === 'object' && at !== null ? (at as FormSchema) : {};
}

/** The members that a new form starts with: the defaults and the constants of the schema. */
export function defaultsOf(schema: FormSchema, root: unknown): Record<string, unknown> {
  const { properties = {}, required } = plainSchema(schema, root);
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      const plain = plainSchema(member, root);
      const value = plain.default ?? (required?.includes(name) ? onlyValue(plain) : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The value of a constant. */
export function onlyValue(schema: FormSchema): unknown {
  return schema.enum?.length === 1 ? schema.enum[0] : undefined;
}

/** A title from the name of a member: `proxy_port` becomes `Proxy port`. Names in capitals stay. */
export function titleOf(name: string, schema: FormSchema): string {
  if (schema.title !== undefined && schema.title !== '') return schema.title;
  if (/^[A-Z0-9_]+$/.test(name)) return name;
  const parts = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[_ ]/);
  const words = parts.map((part) => WORDS[part.toLowerCase()] ?? part).join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const WORDS: Readonly<Record<string, string>> = {
  cmd: 'command',
  env: 'environment',
  vars: 'variables',
  oauth: 'OAuth',
  oidc: 'OIDC',
  jwks: 'JWKS',
  url: 'URL',
  id: 'ID',
};

const MAX_DEPTH = 20;
