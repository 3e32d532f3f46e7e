import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, ToolEntry } from '@toolmgr/core';

/** A tool of a set. */
export interface SetTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** One request and its wanted tools, with names of `nameIn`. */
export interface SetRequest {
  readonly text: string;
  readonly wanted: readonly string[];
}

/** Tools and requests of several kinds. */
export interface RetrievalSet {
  readonly name: string;
  readonly tools: readonly SetTool[];
  readonly kinds: Readonly<Record<string, readonly SetRequest[]>>;
  nameIn(tool: SetTool): string;
}

const FOLDER = join(import.meta.dirname, 'retrieval-set');

/** The set of this repository: written tools, tools of published servers, requests of users and of models. */
export function ownSet(): RetrievalSet {
  const requests = requestsOf('requests.txt');
  const ofModels = requestsOf('model-requests.txt');
  return {
    name: 'own',
    tools: ownTools(),
    kinds: {
      request: requests.filter(({ text }) => !isTask(text)),
      task: requests.filter(({ text }) => isTask(text)),
      'model request': ofModels.filter(({ wanted }) => wanted.length < MANY),
      'model task': ofModels.filter(({ wanted }) => wanted.length >= MANY),
    },
    nameIn: ({ server, name }) => `${server}/${name}`,
  };
}

/** Tools that are described in Chinese, Russian and Japanese, among those of the own set, with requests in these languages. */
export function foreignSet(): RetrievalSet {
  const requests = requestsOf('foreign-requests.txt');
  const of = (script: RegExp) => requests.filter(({ text }) => script.test(text));
  return {
    name: 'foreign',
    tools: [...ownTools(), ...writtenTools(linesOf('foreign-tools.txt'))],
    kinds: {
      Chinese: of(/^[^\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Cyrillic}]+$/u),
      Russian: of(/\p{sc=Cyrillic}/u),
      Japanese: of(/[\p{sc=Hiragana}\p{sc=Katakana}]/u),
    },
    nameIn: ({ server, name }) => `${server}/${name}`,
  };
}

/** Wanted tools from which on a request is a task; below, several are alternatives as well. */
const MANY = 4;

function ownTools(): readonly SetTool[] {
  const real = JSON.parse(readFileSync(join(FOLDER, 'real-servers.json'), 'utf8')) as readonly SetTool[];
  return [...writtenTools(linesOf('tools.txt')), ...real];
}

function requestsOf(file: string): readonly SetRequest[] {
  return linesOf(file)
    .filter((line) => !line.startsWith('# '))
    .map(requestOf);
}

/**
 * Steps of the public set whose tool does something else: a step is paired with the tool at its place in the list, and in
 * these tasks the lists do not run side by side, or a step is work that no tool of the task does. A judgement by reading
 * all pairs, found and missed ones; they stay in `step` and are left out of `fitting step`.
 */
const UNFITTING: ReadonlySet<string> = new Set([
  'calculate the daily percentage change => get_stock_market_cap',
  'get market capitalization => calculate',
  'write a report => get-smzdm-rank',
  'Generate a report => reverse_geocode',
  'Write the report. => reverse_geocode',
  'make a report => get_news',
  'Get news => get_cashflow',
  'categorize financial news => get-bbc-news',
  'extract key entities and events => get-nytimes-news',
  'filter the trendings => get-zhihu-trending',
  'determine travel plans based on weather conditions => reverse_geocode',
]);

/** The public set, or `undefined` when it is missing. It is read in place, not copied. */
export function publicSet(folder: string): RetrievalSet | undefined {
  if (!existsSync(join(folder, 'tools.json'))) return undefined;
  const tools = JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8')) as readonly SetTool[];
  const queries = readFileSync(join(folder, 'queries.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { task: string; steps: string[]; tools: string[] });
  const aligned = queries.filter(({ steps, tools: wanted }) => steps.length === wanted.length);
  const steps = aligned.flatMap(({ steps: texts, tools: wanted }) =>
    texts.map((text, at) => ({ text, wanted: wanted.slice(at, at + 1) })),
  );
  return {
    name: 'public',
    tools,
    kinds: {
      task: queries.map(({ task, tools: wanted }) => ({ text: task, wanted })),
      'task and steps': queries.map(({ task, steps, tools: wanted }) => ({
        text: [task, ...steps].join('\n'),
        wanted,
      })),
      step: steps,
      'fitting step': steps.filter(({ text, wanted: [tool] }) => !UNFITTING.has(`${text} => ${tool}`)),
    },
    nameIn: ({ name }) => name,
  };
}

/** The catalogue entry of a tool of a set, named as aggregation names it by default. */
export function entryOf({ server, name, ...said }: SetTool): ToolEntry {
  const workload = server.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  const key = `${workload}_${name}`;
  return {
    kind: 'tool',
    key,
    backend: workload,
    original: name,
    definition: Buffer.from(JSON.stringify({ name: key, ...said })),
    shapedBy: ['prefix'],
  };
}

/** Tasks are written as sentences, single requests without a full stop. */
function isTask(text: string): boolean {
  return /[.?]$/.test(text);
}

function linesOf(file: string): readonly string[] {
  return readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
}

function requestOf(line: string): SetRequest {
  const [text = '', wanted = ''] = line.split(' => ');
  return { text, wanted: wanted.split(' + ') };
}

const TOOL_LINE = /^(?<name>[\w.-]+)\((?<parameters>.*?)\) (?<description>.+)$/;

function writtenTools(lines: readonly string[]): readonly SetTool[] {
  let server = '';
  return lines.flatMap((line): readonly SetTool[] => {
    if (line.startsWith('# ')) {
      server = line.slice(2).split(' — ')[0] ?? '';
      return [];
    }
    const { name, parameters = '', description } = TOOL_LINE.exec(line)?.groups ?? {};
    if (name === undefined || description === undefined) throw new Error(`no tool: ${line}`);
    return [{ server, name, description, inputSchema: schemaOf(parameters) }];
  });
}

function schemaOf(parameters: string): JsonObject {
  const listed = [...parameters.matchAll(/([\p{L}\w]+)(?:: ((?:[^,]|, (?!\w+(?:[:,]|$)))+))?/gu)];
  const properties = Object.fromEntries(
    listed.map(([, name = '', description]) => [
      name,
      description === undefined ? { type: 'string' } : { type: 'string', description },
    ]),
  );
  return { type: 'object', properties };
}
