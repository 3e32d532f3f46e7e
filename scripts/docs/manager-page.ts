import { PROBLEMS } from '@toolmgr/plugins/kit/operations';
import { describedOperations } from '../../hosts/manager/all-operations.ts';
import { hostProblems } from '../../hosts/manager/http/host-problems.ts';
import { openApiDocument } from '../../hosts/manager/http/openapi.ts';
import { VERSION } from '../../hosts/shared/version.ts';
import { anchorOf } from '../site/anchors.ts';
import { code, page, sentence, table } from './markdown.ts';

const SOURCE = 'the operations of the plugins in `hosts/manager/plan.ts`';

/** docs/reference/manager-api.md, and one page for each tag of operations. */
export async function managerPages(): Promise<readonly (readonly [string, string])[]> {
  const document = openApiDocument(await describedOperations(), VERSION) as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), ...described })),
  );
  const byTag = Map.groupBy(operations, ({ tags: [tag = ''] }) => tag);
  const sorted = [...byTag].sort(([a], [b]) => a.localeCompare(b));
  return [
    ['manager-api.md', indexPage(sorted, document).replaceAll(`](${INDEX}#`, '](#')],
    ...sorted.map(([tag, own]): readonly [string, string] => [
      `manager-api/${fileOf(tag)}.md`,
      page(`Manager API: ${tag}`, SOURCE, [
        `Operations of the manager's HTTP API about ${tag.toLowerCase()}. [All operations, and problems that every operation may answer](../manager-api.md).`,
        ...own.flatMap((one) => operationParts(one)),
      ]),
    ]),
  ];
}

function indexPage(tags: readonly (readonly [string, readonly Operation[]])[], document: Document): string {
  return page('Manager API', SOURCE, [
    'The HTTP API of `toolmgr serve` ([guide](../guides/manager.md)), with a page for each kind of object. The running manager serves the same as OpenAPI 3.1 at `/api/openapi.json`.',
    ...tags.flatMap(([tag, operations]) => [
      `## ${tag}`,
      table(
        ['operation', 'what it does'],
        operations.map(({ method, path, summary, operationId }) => [
          `[${code(`${method} ${path}`)}](manager-api/${fileOf(tag)}.md#${anchorOf(operationId)})`,
          sentence(summary),
        ]),
      ),
    ]),
    '## Problems',
    'Every refusal is `application/problem+json` (RFC 9457). Its `detail` says what is wrong; `errors` names each wrong member of the request.',
    table(
      ['code', 'HTTP', 'means', 'of every operation'],
      Object.entries(PROBLEMS).map(([name, { status, title }]) => [
        code(name),
        String(status),
        sentence(title),
        OF_HOST.has(name) ? 'yes' : '',
      ]),
    ),
    'The pages of operations leave out the answers of every operation.',
    '## Shapes',
    ...Object.entries(document.components.schemas)
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([name, schema]) => [`### ${name}`, ...shapeParts(schema)]),
  ]);
}

/** The page of shapes, from a page of operations. */
const INDEX = '../manager-api.md';

function fileOf(tag: string): string {
  return anchorOf(tag);
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly $ref?: string;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Operation = Described & { readonly method: string; readonly path: string };

function operationParts(operation: Operation): string[] {
  const { method, path, operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const content = requestBody?.content['application/json'];
  return [
    `## ${operationId}`,
    `${code(`${method} ${path}`)}: ${sentence(summary)}${description === undefined ? '' : ` ${sentence(description.replaceAll('\n', ' '))}`}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'type', 'required', 'meaning'],
            parameters.map((one) => [
              code(one.name),
              one.in,
              typeOf(one.schema),
              one.required ? 'yes' : 'no',
              one.description ?? '',
            ]),
          ),
        ]),
    ...(content === undefined
      ? []
      : [`Body (${requestBody?.required === true ? 'required' : 'optional'}): ${typeOf(content.schema)}.`]),
    ...(content === undefined ? [] : membersTable(content.schema)),
    ...exampleParts(content?.example),
    table(
      ['status', 'body', 'meaning'],
      Object.entries(responses)
        .filter(isOwn)
        .map(([status, { description: means, content: body }]) => [
          status,
          Object.entries(body ?? {})
            .map(([type, { schema }]) => (type === 'application/json' ? typeOf(schema) : code(type)))
            .join(', '),
          means,
        ]),
    ),
    ...Object.values(responses).flatMap(({ content: body }) => exampleParts(body?.['application/json']?.example)),
  ];
}

/** Whether an answer is not one of the host, which every operation has. */
function isOwn([status, { description }]: readonly [string, { readonly description: string }]): boolean {
  const codes = [...description.matchAll(/^`(\w+)`: /gm)].map(([, name = '']) => name);
  return Number(status) < 400 || codes.some((name) => !OF_HOST.has(name));
}

const OF_HOST: ReadonlySet<string> = new Set(hostProblems({ method: 'POST', timeLimit: 'standard' }, true));

function exampleParts(example: unknown): string[] {
  if (example === undefined || example === '') return [];
  return [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``];
}

function shapeParts(schema: Schema): string[] {
  const { description } = schema;
  const members = membersTable(schema);
  return [
    ...(description === undefined ? [] : [sentence(description)]),
    ...(members.length === 0 ? [`Type: ${typeOf(schema)}.`] : members),
  ];
}

/** A table of the members of an object that is written in place. */
function membersTable({ properties, required = [] }: Schema): string[] {
  if (properties === undefined) return [];
  return [
    table(
      ['member', 'type', 'required', 'meaning'],
      Object.entries(properties).map(([name, schema]) => [
        code(name),
        typeOf(schema),
        required.includes(name) ? 'yes' : 'no',
        [
          schema.description ?? '',
          ...(schema.default === undefined ? [] : [`default ${code(JSON.stringify(schema.default))}`]),
        ]
          .filter((part) => part !== '')
          .join('; '),
      ]),
    ),
  ];
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf, allOf, items, type, additionalProperties, properties, format } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `[${name}](${INDEX}#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  const alternatives = anyOf ?? oneOf ?? allOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(' or ');
  if (type === 'array') return `array of ${items === undefined ? 'anything' : typeOf(items)}`;
  if (type === 'object' && properties !== undefined) {
    return `object with ${Object.keys(properties).map(code).join(', ')}`;
  }
  if (typeof additionalProperties === 'object') return `object of ${typeOf(additionalProperties)}`;
  return `${[type ?? 'anything'].flat().join(' or ')}${format === undefined ? '' : ` (${format})`}`;
}
