import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Catalogue, explainCause, GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { serversIn } from '../client-files/file-shapes.ts';
import { parseJsonWithComments } from '../client-files/json-with-comments.ts';
import { ownCommand } from '../shared/own-command.ts';
import { choiceProblems, choicesOf } from './choices.ts';
import { configSchema, type VmcpConfig } from './config-schema.ts';
import { factsOf } from './facts.ts';
import { hostWarnings, unknownBackends, unsupportedSettings } from './host-problems.ts';
import { readOwnPlugins } from './own-plugins.ts';
import type { SectionedConfig } from './plan.ts';
import type { Problem } from './problem.ts';
import { problemLines, problemsFrom } from './problem-lines.ts';
import {
  absentPlugins,
  sectionProblems,
  sectionsProblems,
  sectionWarnings,
  uncheckedKeys,
} from './section-problems.ts';
import { hasKey, isIn, type Section, STRATEGIES, sectionsOf } from './sections.ts';
import { withStandaloneDefaults } from './standalone-defaults.ts';

/** A parsed file with its warnings. */
export interface ReadConfig extends SectionedConfig {
  readonly warnings: readonly string[];
  /** Addresses under `plugins:` that were not loaded. What they may read was not checked. */
  readonly notLoaded: readonly string[];
  /** The file does not choose how callers are known; it may be served on loopback only. */
  readonly assumesAnonymous: boolean;
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ALIASES = 100; // of YAML anchors; more would be an attack by exponential expansion

/**
 * Reads the text of a file.
 * @throws GatewayFault PLAN_INVALID with the reason
 */
export async function readConfigText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown error'})`;
    throw new GatewayFault('PLAN_INVALID', `${file}: ${why}`, { cause });
  }
}

/** How a vmcp file is read. */
export interface ReadConfigOptions {
  /**
   * Imports the files and packages that `plugins:` names, which runs their code (default: false). Only for a file that is about
   * to be served: nothing that checks a file runs what it names.
   */
  readonly loadsPlugins?: boolean;
  /** Imports them. */
  readonly importFile?: ((url: string) => Promise<unknown>) | undefined;
  /** Keys of sections that the file may lack and that something else needs, such as a flag. */
  readonly alsoRead?: readonly string[];
  /** Keys of sections that the file gets with their defaults where it lacks them. */
  readonly added?: readonly string[];
}

/**
 * Reads the text of a vmcp file strictly.
 *
 * The plugin that owns a section reads it, so `validate` and the start report the same problems.
 * @throws GatewayFault PLAN_INVALID with one `file:line: path: what is wrong` per problem
 */
export async function readConfig(
  text: string,
  file: string,
  catalogue: Catalogue,
  options: ReadConfigOptions = {},
): Promise<ReadConfig> {
  refuseClientFile(text, file);
  const { given: written, linesOf } = parseText(text, file);
  const { given, assumesAnonymous } = withStandaloneDefaults(written, file);
  const read = await examineConfig(withAdded(given, options.added), file, catalogue, options);
  if (read.problems !== undefined) throw new GatewayFault('PLAN_INVALID', linesOf(read.problems).join('\n'));
  const { config, sections, notLoaded } = read;
  return { config, sections, notLoaded, warnings: linesOf(read.warnings), assumesAnonymous };
}

/** What is wrong with a file, or its parsed form with what is probably a mistake. */
export type ExaminedConfig =
  | { readonly problems: readonly Problem[] }
  | (SectionedConfig & {
      readonly problems?: undefined;
      readonly warnings: readonly Problem[];
      readonly notLoaded: readonly string[];
    });

/** Like {@link readConfig}, for a file as an object; `file` says where relative paths begin. */
export async function examineConfig(
  given: unknown,
  file: string,
  catalogue: Catalogue,
  { loadsPlugins = false, alsoRead = [], importFile }: ReadConfigOptions = {},
): Promise<ExaminedConfig> {
  const isWanted = ({ contractKey = '' }: Section): boolean => alsoRead.includes(contractKey);
  const known = await sectionsOf(catalogue, (section) => isIn(given, section) || isWanted(section));
  const places = { catalogue, baseDir: dirname(resolve(file)), importFile };
  const own = await readOwnPlugins(given, places, {
    loadsPlugins,
    taken: () => Object.keys(configSchema(known).shape),
    strategies: () => choicesOf(known, STRATEGIES).map(({ type }) => type),
  });
  const sections = [...known, ...own.sections];
  const schema = configSchema(sections);
  const read = schema.safeParse(given);
  const problems = read.success ? [] : problemsFrom(schema, read.error, given);
  problems.push(...(await sectionsProblems(given, sections, catalogue)), ...uncheckedKeys(given), ...own.problems);
  if (!read.success) return { problems };
  const config = read.data as VmcpConfig;
  const isSound = (section: Section): boolean =>
    !hasKey(section) || !problems.some(({ path }) => path[0] === section.contractKey.split('.')[0]);
  const facts = factsOf(config, sections, isSound);
  const sound = sections.filter(isSound);
  problems.push(...choiceProblems(config, sections, facts), ...unsupportedSettings(config, facts));
  problems.push(...sound.flatMap((section) => sectionProblems(section, config, facts)));
  if (problems.length === 0) {
    problems.push(...unknownBackends(config, facts), ...(await absentPlugins({ config, sections }, catalogue)));
  }
  if (problems.length > 0) return { problems };
  const odd = sections.flatMap((section) => sectionWarnings(section, config, facts));
  return { config, sections, notLoaded: own.notLoaded, warnings: [...odd, ...hostWarnings(config, facts)] };
}

/** The file with empty sections where it lacks them. */
export function withAdded(file: unknown, keys: readonly string[] = []): unknown {
  if (!isObject(file)) return file;
  return { ...file, ...Object.fromEntries(keys.filter((key) => file[key] === undefined).map((key) => [key, {}])) };
}

/** The two kinds of files are easily mistaken for each other. */
function refuseClientFile(text: string, file: string): void {
  if (!/^\s*[{/]/.test(text)) return;
  let given: unknown;
  try {
    given = parseJsonWithComments(text, file);
  } catch {
    return; // YAML reads more than JSON
  }
  if (!isObject(given) || 'backends' in given || serversIn(given as JsonObject, '') === undefined) return;
  const [serve, init] = [ownCommand(`up ${file}`), ownCommand(`vmcp init --from ${file} -o vmcp.yaml`)];
  throw new GatewayFault(
    'PLAN_INVALID',
    `${file} is a file of an MCP client, not a vmcp file: serve it (${serve}), or make a vmcp file of it (${init})`,
  );
}

/** Parses YAML. `linesOf` formats problems as `file:line: path: message`, sorted by line. */
function parseText(text: string, file: string) {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) {
    throw new GatewayFault('PLAN_INVALID', `${file}: larger than ${MAX_FILE_BYTES} bytes`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const sentences = document.errors.map(
      (error) => `${file}:${lines.linePos(error.pos[0]).line}: ${yamlProblem(error, text)}`,
    );
    throw new GatewayFault('PLAN_INVALID', sentences.join('\n'));
  }
  let given: unknown;
  try {
    given = withoutNulls(document.toJS({ maxAliasCount: MAX_ALIASES }));
  } catch (cause) {
    throw new GatewayFault('PLAN_INVALID', `${file}:1: ${explainCause(cause)}`, { cause });
  }
  if (given === null || given === undefined) throw new GatewayFault('PLAN_INVALID', `${file}:1: the file is empty`);
  return { given, linesOf: (problems: readonly Problem[]) => problemLines(file, document, lines, problems) };
}

function yamlProblem({ code, pos: [begin], message }: YAMLError, text: string): string {
  if (code !== 'DUPLICATE_KEY') return message;
  return `the key ${/^[^\s:]+/.exec(text.slice(begin, begin + 100))?.[0] ?? ''} is a duplicate in its section`;
}

/** Removes empty sections: they count as absent, as in other YAML readers. */
function withoutNulls(given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
