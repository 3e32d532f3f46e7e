import type { Json, Listed } from '../../app/mcp-shapes.ts';
import type { FormSchema } from '../../widgets/form-schema.ts';

/** What can be tried: how it is listed, asked for and shown. */
export interface Kind {
  readonly name: 'tools' | 'prompts' | 'resources';
  readonly title: string;
  readonly lists: readonly { readonly method: string; readonly member: string }[];
  readonly submit: string;
  readonly method: string;
  schemaOf(entry: Listed): FormSchema;
  paramsOf(entry: Listed, values: Json): Json;
}

/** The kinds in the order of the tabs. */
export const KINDS: readonly Kind[] = [
  {
    name: 'tools',
    title: 'Tools',
    lists: [{ method: 'tools/list', member: 'tools' }],
    submit: 'Call',
    method: 'tools/call',
    schemaOf: ({ inputSchema = {} }) => inputSchema as FormSchema,
    paramsOf: ({ name }, values) => ({ name, arguments: values }),
  },
  {
    name: 'prompts',
    title: 'Prompts',
    lists: [{ method: 'prompts/list', member: 'prompts' }],
    submit: 'Get',
    method: 'prompts/get',
    schemaOf: ({ arguments: given = [] }) => ({
      type: 'object',
      properties: Object.fromEntries(
        given.map(({ name, description }) => [
          name,
          { type: 'string', ...(description === undefined ? {} : { description }) },
        ]),
      ),
      required: given.filter(({ required }) => required).map(({ name }) => name),
    }),
    paramsOf: ({ name }, values) => ({ name, arguments: values }),
  },
  {
    name: 'resources',
    title: 'Resources',
    lists: [
      { method: 'resources/list', member: 'resources' },
      { method: 'resources/templates/list', member: 'resourceTemplates' },
    ],
    submit: 'Read',
    method: 'resources/read',
    schemaOf: ({ uriTemplate = '' }) => ({
      type: 'object',
      properties: Object.fromEntries(variablesOf(uriTemplate).map((name) => [name, { type: 'string' }])),
      required: variablesOf(uriTemplate),
    }),
    paramsOf: ({ uri, uriTemplate = '' }, values) => ({ uri: uri ?? expanded(uriTemplate, values) }),
  },
];

/** The kind of a link. */
export function kindFrom(name: string | null): Kind {
  return KINDS.find((kind) => kind.name === name) ?? (KINDS[0] as Kind);
}

/** What identifies an entry in a list. */
export function keyOf({ name, uri, uriTemplate }: Listed): string {
  return uri ?? uriTemplate ?? name ?? '';
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

function variablesOf(template: string): readonly string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap(([, , list = '']) => list.split(','));
  return [...new Set(names.map((name) => name.replace(/[*:].*$/, '')))].filter((name) => name !== '');
}

/** RFC 6570 for plain values: operators differ in separators and in what they escape. */
function expanded(template: string, values: Json): string {
  return template.replace(EXPRESSION, (_, operator: string, list: string) => {
    const { first, separator, isNamed, isReserved } = OPERATORS[operator] ?? SIMPLE;
    const parts = list.split(',').flatMap((variable) => {
      const name = variable.replace(/[*:].*$/, '');
      const value = values[name];
      if (value === undefined || value === '') return [];
      const text = isReserved ? encodeURI(String(value)) : encodeURIComponent(String(value));
      return [isNamed ? `${name}=${text}` : text];
    });
    return parts.length === 0 ? '' : first + parts.join(separator);
  });
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly isNamed?: boolean;
  readonly isReserved?: boolean;
}

const SIMPLE: Operator = { first: '', separator: ',' };
const OPERATORS: Readonly<Record<string, Operator>> = {
  '': SIMPLE,
  '+': { first: '', separator: ',', isReserved: true },
  '#': { first: '#', separator: ',', isReserved: true },
  '.': { first: '.', separator: '.' },
  '/': { first: '/', separator: '/' },
  ';': { first: ';', separator: ';', isNamed: true },
  '?': { first: '?', separator: '&', isNamed: true },
  '&': { first: '&', separator: '&', isNamed: true },
};
