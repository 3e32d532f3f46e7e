import { type Catalogue, explainCause, findPlugin, GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from '../../shared/usage-error.ts';
import type { SectionedConfig } from '../plan.ts';
import type { Problem } from '../problem.ts';
import { problemLines, problemsFrom } from '../problem-lines.ts';
import { type ReadConfigOptions, readConfig, readConfigText } from '../read-config.ts';

/** One checked composite tool of a file, as written. */
export interface FoundDefinition {
  readonly definition: JsonObject;
  /** Every definition beside it, itself among them. */
  readonly all: readonly JsonObject[];
  /** The vmcp file that contains it; `undefined` when the file has only a definition. */
  readonly file: SectionedConfig | undefined;
}

/**
 * Finds one definition: in a vmcp file by its name or as the only one; or in a file with only a definition, plain or as
 * the `spec` of a resource.
 * @throws GatewayFault PLAN_INVALID with file, line and fix; UsageError when there are several
 */
export async function readDefinition(
  file: string,
  name: string | undefined,
  catalogue: Catalogue,
  options: ReadConfigOptions = {},
): Promise<FoundDefinition> {
  const text = await readConfigText(file);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw invalid(`${file}:${lines.linePos(broken.pos[0]).line}: ${broken.message}`);
  const given = documentValue(document, file);
  if (isObject(given) && given.compositeTools !== undefined) {
    const read = await readConfig(text, file, catalogue, options);
    const all = given.compositeTools as readonly JsonObject[];
    return { definition: named(all, name, file), all, file: read };
  }
  const isResource = isObject(given) && isObject(given.spec);
  const definition = isResource ? given.spec : given;
  if (!isObject(definition) || definition.steps === undefined) {
    throw invalid(`${file}: holds no composite tool; expected steps, or a vmcp file with compositeTools`);
  }
  const problems = await definitionProblems(definition, catalogue);
  if (problems.length > 0) {
    const located = problems.map(({ path, message }) => ({
      path: [...(isResource ? ['spec'] : []), ...path],
      message,
    }));
    throw invalid(problemLines(file, document, lines, located).join('\n'));
  }
  const found = named([definition as JsonObject], name, file);
  return { definition: found, all: [found], file: undefined };
}

/** What is wrong with one composite tool, with paths inside of it. */
export async function definitionProblems(definition: unknown, catalogue: Catalogue): Promise<readonly Problem[]> {
  const engine = await findPlugin('composite/engine', { catalogue, baseDir: '' });
  const given = { compositeTools: [definition] };
  const read = engine.config.safeParse(given);
  if (read.success) return [];
  return problemsFrom(engine.config, read.error, given).map(({ path, message }) => ({ path: path.slice(2), message }));
}

const MAX_ALIASES = 100; // of YAML anchors; more would be an attack by exponential expansion

function documentValue(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    throw invalid(`${file}:1: ${explainCause(cause)}`);
  }
}

function named(definitions: readonly JsonObject[], name: string | undefined, file: string): JsonObject {
  const names = definitions.map((definition) => String(definition.name)).join(', ');
  const found = name === undefined ? definitions : definitions.filter((definition) => definition.name === name);
  const [first, second] = found;
  if (first === undefined)
    throw new UsageError(`${file} has no composite tool ${name ?? ''} (it has: ${names || 'none'})`);
  if (second !== undefined)
    throw new UsageError(`${file} has several composite tools; say which with --name (${names})`);
  return first;
}

function invalid(message: string): GatewayFault {
  return new GatewayFault('PLAN_INVALID', message);
}
