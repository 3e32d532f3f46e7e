import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname } from 'node:path';
import { missingPackage } from '../errors/missing-package.ts';
import { explainCause } from '../errors.ts';
import { nearest } from '../extension/nearest.ts';

/** Why `import` of a plugin file failed: one sentence, with `FILE:LINE` if the engine or its compiler reports it. */
export function whyNotLoaded(cause: unknown, path: string): string {
  if (!(cause instanceof Error)) return `${path} threw ${explainCause(cause)}`;
  const message = 'code' in cause && typeof cause.code === 'string' ? MESSAGES[cause.code] : undefined;
  if (cause.message.startsWith(`Cannot find module '${path}'`)) return `there is no file ${path}${nearestFile(path)}`;
  if (message !== undefined) return `${path} ${message}`;
  const missing = missingPackage(cause);
  if (missing !== undefined) return missing;
  const place = placeOf(cause) ?? (cause instanceof SyntaxError ? placeBySyntax(path) : undefined);
  return `${place ?? path}: ${cause.name}: ${explainCause(cause)}`;
}

const NO_MODULE = 'is not a JavaScript or TypeScript module (.js, .mjs, .cjs, .ts, .mts)';

/** By code of Node's error. */
const MESSAGES: Readonly<Record<string, string>> = {
  ERR_UNSUPPORTED_DIR_IMPORT: 'is a folder; name the file in it, e.g. ./my-plugin/index.ts',
  ERR_UNKNOWN_FILE_EXTENSION: NO_MODULE,
  ERR_IMPORT_ATTRIBUTE_MISSING: NO_MODULE,
  ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
    'is TypeScript inside node_modules, which Node does not run; the package has to be published as JavaScript',
};

/** The nearest name in the folder of a missing file. */
function nearestFile(path: string): string {
  try {
    const meant = nearest(basename(path), readdirSync(dirname(path)));
    return meant === undefined ? '' : `, did you mean ${meant}?`;
  } catch {
    return ''; // the folder is missing too
  }
}

/** `FILE:LINE` where an error happened: the line at the beginning of its stack, or the first file of it. */
export function placeOf({ stack = '' }: Error): string | undefined {
  const [, file, line] = /^(?:file:\/\/)?(\/[^\n]+|[A-Za-z]:[^\n]+):(\d+)\n/.exec(stack) ?? [];
  const place = file === undefined ? FIRST_FRAME.exec(stack)?.[1] : `${file}:${line}`;
  return place?.replace(QUERY, '');
}

const FIRST_FRAME = /(?<=[\s(]|file:\/\/)(\/[^\s()]+:\d+):\d+\)?$/m;

/** Of a URL that a program imports instead of the file, to load changed code. */
const QUERY = /\?[^/?]*(?=:\d+$)/;

/** Node does not report the place of a syntax error in JavaScript; its TypeScript parser does. */
function placeBySyntax(path: string): string | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // hides the warning that the parser is experimental
  try {
    stripTypeScriptTypes(readFileSync(path, 'utf8'), { sourceUrl: path });
    return undefined; // the error is in another file
  } catch (cause) {
    return cause instanceof Error ? placeOf(cause) : undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
