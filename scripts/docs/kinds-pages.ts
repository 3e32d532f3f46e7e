import type { KindSchema } from '../../hosts/vmcp/operator/crd/crd.ts';
import type { Structural } from '../../hosts/vmcp/operator/crd/structural.ts';
import { API_GROUP, API_VERSION, CATEGORY } from '../../hosts/vmcp/operator/kinds/kind.ts';
import { type Schema, schemaRows } from './config-table.ts';
import { schemas } from './crds.ts';
import { code, page, sentence, table } from './markdown.ts';

const SOURCE = '`hosts/vmcp/operator/kinds` and, for sections of a vmcp file, the schemas of the plugins';
/** Has a page of its own, since it contains a vmcp file. */
const LARGE = 'VirtualMCPServer';
const LARGE_PAGE = 'kinds-virtual-mcp-server.md';

/** docs/reference/kinds*.md */
export async function kindPages(): Promise<readonly (readonly [string, string])[]> {
  const kinds = await schemas();
  const large = kinds.filter(({ definition }) => definition.kind === LARGE);
  const others = kinds.filter(({ definition }) => definition.kind !== LARGE);
  return [
    [
      'kinds.md',
      page('Kinds of the Kubernetes API', SOURCE, [
        `Kinds of the API group ${code(`${API_GROUP}/${API_VERSION}`)}. All are namespaced, and every reference is to an object in the same namespace. ${code(`kubectl get ${CATEGORY}`)} lists all of them. The definitions are in [deploy/crds](../../deploy/crds); [${LARGE}](${LARGE_PAGE}) has a page of its own.`,
        table(
          ['kind', 'short names', 'what it is'],
          kinds.map(({ definition: { kind, shortNames, summary } }) => [
            kind === LARGE ? `[${kind}](${LARGE_PAGE})` : `[${kind}](#${kind.toLowerCase()})`,
            shortNames.map(code).join(', '),
            summary,
          ]),
        ),
        ...others.flatMap((kind) => [`## ${kind.definition.kind}`, ...partsOf(kind, '###')]),
      ]),
    ],
    ...large.map((kind) => [LARGE_PAGE, page(kind.definition.kind, SOURCE, partsOf(kind, '##'))] as const),
  ];
}

function partsOf({ definition: { summary, columns }, schema }: KindSchema, level: string): readonly string[] {
  const { spec, status } = schema.properties ?? {};
  const rules = spec === undefined ? [] : rulesOf(spec, 'spec');
  return [
    sentence(summary),
    `Columns of ${code('kubectl get')}: ${columns.map(({ name, jsonPath }) => `${name} (${code(jsonPath)})`).join(', ')}.`,
    `${level} spec`,
    fieldList(spec),
    ...(rules.length === 0
      ? []
      : ['Rules that the API server checks between fields:', rules.map(([at, rule]) => `- ${at}: ${rule}`).join('\n')]),
    `${level} status`,
    fieldList(status),
  ];
}

/** A list: the columns of a table would be as wide as the longest path. */
function fieldList(schema: Structural | undefined): string {
  const rows = schema === undefined ? [] : schemaRows(schema as Schema);
  return rows.map(fieldLine).join('\n') || 'No fields.';
}

function fieldLine([path = '', type = '', given = '', meaning = '']: readonly string[]): string {
  const extra = given === '' || given.startsWith('*') ? given : `default ${given}`;
  return `- ${[path, type, extra].filter((part) => part !== '').join(', ')}${meaning === '' ? '' : `: ${meaning}`}`;
}

function rulesOf(schema: Structural, path: string): readonly (readonly string[])[] {
  const { properties = {}, items, additionalProperties, 'x-kubernetes-validations': rules = [] } = schema;
  return [
    ...rules.map(({ message }) => [code(path), message]),
    ...Object.entries(properties).flatMap(([key, member]) => rulesOf(member, `${path}.${key}`)),
    ...(items === undefined ? [] : rulesOf(items, `${path}[]`)),
    ...(additionalProperties === undefined ? [] : rulesOf(additionalProperties, `${path}.*`)),
  ];
}
