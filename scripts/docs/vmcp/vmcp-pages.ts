import { stringify } from 'yaml';
import type { JsonSchema } from '../../../hosts/operator/crd/json-schema.ts';
import { VMCP_SCHEMA_URL } from '../../../hosts/vmcp/schema-comment.ts';
import { type Schema, schemaRows } from '../config-table.ts';
import { code, page, sentence, table } from '../markdown.ts';
import { EXAMPLES, GUIDES } from './examples.ts';
import { vmcpSchema } from './schema.ts';

const SOURCE = '`hosts/vmcp/config-schema.ts` and the schemas of the plugins';

/** docs/reference/vmcp.md and docs/reference/vmcp/*.md */
export async function vmcpPages(): Promise<readonly (readonly [string, string])[]> {
  const {
    properties = {},
    anyOf: [{ required = [] } = {}, { required: ofGroup = [] } = {}] = [],
    definitions,
  } = (await vmcpSchema()) as JsonSchema & {
    readonly definitions: { readonly strategy: JsonSchema };
  };
  const sections = Object.entries(properties).filter(([, schema]) => hasKeys(schema));
  return [
    ['vmcp.md', indexPage(properties, required, ofGroup)],
    ...sections.map(([key, schema]): readonly [string, string] => [
      `vmcp/${key}.md`,
      page(`${key} of a vmcp file`, SOURCE, [
        `${sentence(schema.description ?? '')} This page has every key of the section ${code(key)}. [All sections](../vmcp.md).`,
        ...(GUIDES[key] === undefined ? [] : [`How to use it: ${GUIDES[key]}.`]),
        '## Example',
        exampleOf(key),
        '## Keys',
        ...tablesOf(key, schema, definitions.strategy),
      ]),
    ]),
  ];
}

/** `required`: keys of a file that lists its backends; `ofGroup`: keys of a file that serves the workloads of a group. */
function indexPage(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  ofGroup: readonly string[],
): string {
  return page('The vmcp file', SOURCE, [
    'Every section of the file that `toolmgr vmcp serve -c FILE` serves: what it is for, its keys, types, defaults, and an example. The file is YAML or JSON. Unknown keys are refused with the nearest known one, and `toolmgr vmcp validate -c FILE` lists every problem with its line.',
    '## A whole file',
    exampleOf('backends'),
    '## Completion in editors',
    `The first line names a [JSON Schema](https://json-schema.org) of this version. VS Code with the YAML extension, JetBrains and other editors that use yaml-language-server then complete keys, show their meaning and mark mistakes. Files that toolmgr writes have this line. The npm package contains the schema as ${code('toolmgr/schemas/vmcp.schema.json')}. The rules between several keys are checked only by ${code('toolmgr vmcp validate')}.`,
    '## Sections',
    `A file that lists its servers needs only ${listed(required)}; with ${code('plugins')} also ${code('incomingAuth')}, unless one of them authenticates callers. A file without them serves the workloads of the group in ${code('groupRef')}, and needs ${listed(ofGroup)}, and ${code('incomingAuth')} unless a plugin under ${code('plugins')} authenticates callers.`,
    table(
      ['key', 'type', 'default', 'meaning'],
      Object.entries(properties).map(([key, schema]) => {
        const [[, type = '', given = ''] = []] = schemaRows({
          properties: { [key]: withoutNull(schema) },
          required: required.filter((each) => ofGroup.includes(each)), // in every file
        } as Schema);
        return [
          hasKeys(schema) ? `[${code(key)}](vmcp/${key}.md)` : code(key),
          type,
          given,
          sentence(schema.description ?? ''),
        ];
      }),
    ),
    '## Values',
    'A time is text such as `500ms`, `30s`, `1m30s` or `2h`. A secret is never written into the file: a key whose name ends in `Env` names an environment variable, and one that ends in `Ref` names a secret, `{ env: VARIABLE }` or `{ file: PATH }`.',
  ]);
}

function listed(keys: readonly string[]): string {
  return new Intl.ListFormat('en').format(keys.map(code));
}

function hasKeys({ properties, items, additionalProperties }: JsonSchema): boolean {
  if (properties !== undefined) return true;
  if (typeof additionalProperties === 'object') return hasKeys(additionalProperties);
  return typeof items === 'object' && hasKeys(items);
}

/** `null` is accepted for an empty section; the tables leave it out. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (!Array.isArray(type)) return schema;
  const [first] = type.filter((one) => one !== 'null');
  return { ...schema, type: first };
}

function tablesOf(key: string, schema: JsonSchema, strategy: JsonSchema): readonly string[] {
  const heads = ['key', 'type', 'default', 'meaning'];
  const { properties = {} } = schema;
  if (key !== 'outgoingAuth') return [table(heads, rowsOf(key, schema))];
  const { default: _, backends, ...rest } = properties;
  return [
    table(heads, [
      ...rowsOf(key, { properties: rest, required: schema.required }),
      [
        code('outgoingAuth.default'),
        code('object'),
        '',
        properties.default?.description ?? 'strategy of backends that have none of their own',
      ],
      [code('outgoingAuth.backends.*'), code('object'), '', backends?.description ?? ''],
    ]),
    '## Keys of a strategy',
    'The same below `outgoingAuth.default` and below `outgoingAuth.backends.NAME`.',
    table(heads, schemaRows(strategy as Schema)),
  ];
}

function rowsOf(key: string, schema: JsonSchema): readonly (readonly string[])[] {
  const rows = schemaRows({ properties: { [key]: withoutNull(schema) } } as Schema);
  return rows.slice(1);
}

function exampleOf(key: string): string {
  const example = EXAMPLES[key];
  if (example === undefined)
    throw new Error(`the section ${key} of a vmcp file has no example; add one to scripts/docs/vmcp/examples.ts`);
  const comment = `# yaml-language-server: $schema=${VMCP_SCHEMA_URL}\n`;
  return `\`\`\`yaml\n${key === 'backends' ? comment : ''}${stringify(example, { lineWidth: 0 })}\`\`\``;
}
