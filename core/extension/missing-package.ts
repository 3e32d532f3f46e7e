import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * An instruction to install a missing package when an import failed because of it; `undefined` for any other error.
 *
 * The version is the one in the importing package's package.json, which matters for optional peers.
 */
export function missingPackage(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, name, importer] = /^Cannot find package '([^'/][^']*)' imported from (.+)$/.exec(cause.message) ?? [];
  if (name === undefined || importer === undefined) return undefined;
  const file = importer.startsWith('file:') ? fileURLToPath(importer) : importer;
  const range = rangeAskedFor(name, file);
  return `the package ${name}, which ${file} imports, is not installed; install it: npm install ${name}${range === undefined ? '' : `@${range}`}`;
}

/** The range in the nearest package.json above a file. */
function rangeAskedFor(name: string, file: string): string | undefined {
  for (let at = dirname(file), up = dirname(at); ; at = up, up = dirname(at)) {
    const text = textOf(join(at, 'package.json'));
    if (text !== undefined) return rangeIn(text, name);
    if (up === at) return undefined;
  }
}

function rangeIn(text: string, name: string): string | undefined {
  try {
    const { dependencies, peerDependencies } = JSON.parse(text) as Partial<Record<string, Record<string, unknown>>>;
    const range = dependencies?.[name] ?? peerDependencies?.[name];
    return typeof range === 'string' ? range : undefined;
  } catch {
    return undefined; // an invalid package.json, which npm could not read either
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
