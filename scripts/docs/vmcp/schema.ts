import { catalogue } from '@toolmgr/plugins';
import { type JsonSchema, jsonSchemaOf } from '../../../hosts/operator/crd/json-schema.ts';
import { fileSchema } from '../../../hosts/operator/crd/section-schemas.ts';
import { configSchema } from '../../../hosts/vmcp/config-schema.ts';
import { VMCP_SCHEMA_URL } from '../../../hosts/vmcp/schema-comment.ts';
import { sectionsOf } from '../../../hosts/vmcp/sections.ts';
import { meaningOf } from './meanings.ts';

/** Path of the published schema from the root. */
export const VMCP_SCHEMA = 'hosts/schemas/vmcp.schema.json';

/**
 * The schema as it is published: strategies of outgoing authentication that the catalogue does not have are accepted too when the
 * file uses a plugin that it does not have.
 */
export async function publishedVmcpSchema(): Promise<JsonSchema> {
  const { then: known, definitions, ...schema } = (await vmcpSchema()) as VmcpSchema;
  const { additionalProperties: _, properties: { type, ...options } = {}, ...strategy } = definitions.strategy;
  const { enum: types, ...anyType } = type ?? {};
  const ref = { $ref: '#/definitions/knownStrategy' };
  const backends = { type: 'object', additionalProperties: ref };
  const outgoingAuth = { type: 'object', properties: { default: ref, backends } };
  return {
    ...schema,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { ...known, properties: { outgoingAuth } },
    definitions: {
      strategy: { ...strategy, properties: { type: anyType, ...options } },
      knownStrategy: {
        type: 'object',
        properties: { type: { enum: types } },
        propertyNames: { enum: ['type', ...Object.keys(options)] },
      },
    },
  } as JsonSchema;
}

interface VmcpSchema extends JsonSchema {
  readonly then: JsonSchema;
  readonly definitions: { readonly strategy: JsonSchema };
}

/**
 * The JSON Schema of a vmcp file: every key of the host, the core and the plugins of the catalogue, with descriptions.
 *
 * Shape: draft 7, which all editors read. It refuses unknown keys, unless the file uses a plugin that the catalogue does not have,
 * since such a plugin may have a section of its own. Strategies are those of the catalogue. Rules between several keys are checked by `toolmgr vmcp validate` only.
 */
export async function vmcpSchema(): Promise<JsonSchema> {
  const { properties = {} } = await fileSchema(catalogue);
  const { required = [] } = jsonSchemaOf(configSchema(await sectionsOf(catalogue)));
  const { outgoingAuth, ...others } = described({ properties }, '').properties ?? {};
  const { default: strategy, ...rest } = outgoingAuth?.properties ?? {};
  const uses = { type: 'array', items: { type: 'object', properties: { use: { enum: Object.keys(catalogue) } } } };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: VMCP_SCHEMA_URL,
    title: 'vmcp file of toolmgr',
    type: 'object',
    // a file with backends of its own has defaults for the other sections
    anyOf: [{ required: ['backends'] }, { required }],
    properties: sorted({
      ...emptied(others, required),
      incomingAuth: withoutPolicies(others.incomingAuth),
      outgoingAuth: {
        ...outgoingAuth,
        properties: {
          ...rest,
          default: { $ref: '#/definitions/strategy' },
          backends: { ...rest.backends, additionalProperties: { $ref: '#/definitions/strategy' } },
        },
      },
    }),
    if: { properties: { plugins: uses } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { propertyNames: { enum: Object.keys(properties) } },
    definitions: { strategy },
  } as JsonSchema;
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** The schema with the meaning of each key, and without keywords that are ours. */
function described(schema: JsonSchema, path: string): JsonSchema {
  const inner = (key: string, each: JsonSchema): JsonSchema => described(each, path === '' ? key : `${path}${key}`);
  const { properties, additionalProperties, items, anyOf, oneOf, allOf } = schema;
  const own = Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => KEYWORDS.has(key) && isStandard(key, value)),
  );
  const means = schema.description ?? meaningOf(path);
  return {
    ...(means === undefined ? {} : { description: means }),
    ...own,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, inner(path === '' ? key : `.${key}`, each)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner('.*', additionalProperties) }),
    ...(typeof items === 'object' && { items: inner('[]', items) }),
    ...(anyOf && { anyOf: anyOf.map((each) => inner('', each)) }),
    ...(oneOf && { oneOf: oneOf.map((each) => inner('', each)) }),
    ...(allOf && { allOf: allOf.map((each) => inner('', each)) }),
  };
}

/** An empty section counts as absent. */
function emptied(sections: Properties, required: readonly string[] = []): Properties {
  return Object.fromEntries(
    Object.entries(sections).map(([key, { type, ...rest }]) => [
      key,
      typeof type !== 'string' || required.includes(key) ? { type, ...rest } : { type: [type, 'null'], ...rest },
    ]),
  );
}

/** The schema of the plugin is for `type: cedar`; `type: none` has no policies. */
function withoutPolicies({ properties: { authz, ...rest } = {}, ...auth }: JsonSchema = {}): JsonSchema {
  const { required = [], ...own } = authz ?? {};
  return {
    ...auth,
    properties: { ...rest, authz: { ...own, required: required.filter((key) => key !== 'policies') } },
  };
}

/** zod also writes formats of its own. */
function isStandard(key: string, value: unknown): boolean {
  return key !== 'format' || value === 'uri' || value === 'date-time';
}

/** The order of the sections in the page and in completions of editors. */
const FIRST = ['name', 'groupRef', 'backends', 'aggregation', 'incomingAuth', 'outgoingAuth', 'operational'];

function sorted(properties: Properties): Properties {
  const place = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b)));
}

const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'items',
  'default',
  'description',
  'format',
  'pattern',
  'enum',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'anyOf',
  'oneOf',
  'allOf',
]);
