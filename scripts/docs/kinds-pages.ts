import type { KindSchema } from '../../hosts/operator/crd/crd.ts';
import type { Structural } from '../../hosts/operator/crd/structural.ts';
import { API_GROUP, API_VERSION, CATEGORY } from '../../hosts/operator/kinds/kind.ts';
import { type Schema, schemaRows } from './config-table.ts';
import { schemas } from './crds.ts';
import { code, page, sentence, table } from './markdown.ts';

const SOURCE = '`hosts/operator/kinds` and, for sections of a vmcp file, the schemas of the plugins';

/** Long parts of kinds with pages of their own, by file name without `.md`. The first one that a field is below has it. */
const PARTS: Readonly<Record<string, readonly (readonly [path: string, title: string])[]>> = {
  VirtualMCPServer: [
    ['spec.authServerConfig', 'authorization server'],
    ['spec.config.authServerConfig', 'authorization server in config'],
    ['spec.config.outgoingAuth', 'outgoing authentication in config'],
    ['spec.config.limits', 'limits in config'],
    ['spec.config.compositeTools[]', 'composite tools in config'],
    ['spec.config.audit', 'audit in config'],
    ['spec.config.dataProtection', 'data protection in config'],
    ['spec.config', 'config'],
  ],
  MCPExternalAuthConfig: [['spec.embeddedAuthServer', 'authorization server']],
};

/** docs/reference/kinds.md and docs/reference/kinds/*.md */
export async function kindPages(): Promise<readonly (readonly [string, string])[]> {
  const kinds = await schemas();
  return [
    [
      'kinds.md',
      page('Kinds of the Kubernetes API', SOURCE, [
        `Kinds of the API group ${code(`${API_GROUP}/${API_VERSION}`)}, with a page of fields for each. All are namespaced, and every reference is to an object in the same namespace. ${code(`kubectl get ${CATEGORY}`)} lists all of them. The definitions are in [deploy/crds](../../deploy/crds). How they work together: [Kubernetes](../operations/kubernetes.md).`,
        table(
          ['kind', 'short names', 'what it is'],
          kinds.map(({ definition: { kind, shortNames, summary } }) => [
            `[${kind}](kinds/${fileOf(kind)}.md)`,
            shortNames.map(code).join(', '),
            summary,
          ]),
        ),
      ]),
    ],
    ...kinds.flatMap(pagesOfKind),
  ];
}

function pagesOfKind({ definition: { kind, summary, columns }, schema }: KindSchema): (readonly [string, string])[] {
  const { spec, status } = schema.properties ?? {};
  const parts = PARTS[kind] ?? [];
  const partAt = (path: string): string | undefined => parts.find(([part]) => path.startsWith(`${part}.`))?.[0];
  const linesAt = (part: string | undefined): string => {
    const rows = rowsOf(spec, 'spec').filter(([path = '']) => partAt(path.replaceAll('`', '')) === part);
    return rows.map(fieldLine).join('\n') || 'No fields.';
  };
  const rulesAt = (part: string | undefined): readonly string[] => {
    const rules = spec === undefined ? [] : rulesOf(spec, 'spec');
    const here = rules.filter(([at = '']) => partAt(`${at.replaceAll('`', '')}.`) === part);
    if (here.length === 0) return [];
    return [
      'Rules that the API server checks between fields:',
      here.map(([at, rule]) => `- ${at}: ${rule}`).join('\n'),
    ];
  };
  const main = page(kind, SOURCE, [
    sentence(summary),
    `Columns of ${code('kubectl get')}: ${columns.map(({ name, jsonPath }) => `${name} (${code(jsonPath)})`).join(', ')}.`,
    ...(parts.length === 0
      ? []
      : [
          `Fields with pages of their own: ${parts.map(([path]) => `[${code(path)}](${partFile(kind, path)}.md)`).join(', ')}.`,
        ]),
    '## spec',
    linesAt(undefined),
    ...rulesAt(undefined),
    '## status',
    rowsOf(status, 'status').map(fieldLine).join('\n') || 'No fields.',
  ]);
  return [
    [`kinds/${fileOf(kind)}.md`, main],
    ...parts.map(([path, title]): readonly [string, string] => [
      `kinds/${partFile(kind, path)}.md`,
      page(`${kind}: ${title}`, SOURCE, [
        `Fields below ${code(path)} of the kind [${kind}](${fileOf(kind)}.md).`,
        linesAt(path),
        ...rulesAt(path),
      ]),
    ]),
  ];
}

function fileOf(kind: string): string {
  return kind.toLowerCase();
}

function partFile(kind: string, path: string): string {
  return `${fileOf(kind)}-${path.replace('[]', '').split('.').slice(1).join('-').toLowerCase()}`;
}

/** Rows with full paths. A list shows them: the columns of a table would be as wide as the longest path. */
function rowsOf(schema: Structural | undefined, at: string): readonly (readonly string[])[] {
  if (schema === undefined) return [];
  return schemaRows({ properties: { [at]: schema } } as Schema).slice(1);
}

function fieldLine([path = '', type = '', given = '', meaning = '']: readonly string[]): string {
  const extra = given === '' || given.startsWith('*') ? given : `default ${given}`;
  const shown = path.replace(/^`(?:spec|status)\./, '`');
  return `- ${[shown, type, extra].filter((part) => part !== '').join(', ')}${meaning === '' ? '' : `: ${meaning}`}`;
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
