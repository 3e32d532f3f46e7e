/** The parts of JSON Schema that a form shows. Anything else is edited as JSON. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** `secret`: a stored secret or a new value; `examples` are the names of the stored ones. */
  readonly format?: string;
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
  // a union of constants is an enum
  if (branches?.length && branches.every((branch) => branch.const !== undefined)) {
    const { anyOf: _, oneOf: __, ...rest } = schema;
    return { ...rest, enum: branches.map((branch) => branch.const) };
  }
  return schema;
}

/** How a plain schema is edited. */
export function kindOf(schema: FormSchema, root: unknown): FieldKind {
  if (schema.enum !== undefined) return 'choice';
  if (schema.format === 'secret') return 'secret';
  const type = singleType(schema);
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return listKind(plainSchema(schema.items ?? {}, root), root);
  if (type !== 'object' && schema.properties === undefined) return 'json';
  if (Object.keys(schema.properties ?? {}).length > 0) return 'object';
  return typeof schema.additionalProperties === 'object' ? 'map' : 'json';
}

function listKind(items: FormSchema, root: unknown): FieldKind {
  const kind = kindOf(items, root);
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
  for (const part of pointer.replace(/^#\/?/, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : {};
  }
  return typeof at === 'object' && at !== null ? (at as FormSchema) : {};
}

/** The members that a new form starts with: the defaults of the schema. */
export function defaultsOf(schema: FormSchema, root: unknown): Record<string, unknown> {
  const members = Object.entries(plainSchema(schema, root).properties ?? {});
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      const value = plainSchema(member, root).default;
      return value === undefined ? [] : [[name, value]];
    }),
  );
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
