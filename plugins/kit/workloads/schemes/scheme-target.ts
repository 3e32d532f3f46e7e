import { basename, resolve } from 'node:path';
import { readGoTarget } from './go-target.ts';
import { readNpmPackage } from './npm-package.ts';
import { readPythonPackage } from './python-package.ts';

/** What a protocol scheme names. Nothing in it can be read as an option, as shell text or as more than one line. */
export type SchemeTarget =
  | {
      readonly scheme: 'npx';
      readonly name: string;
      /** A version, range or tag of npm. */
      readonly version?: string;
    }
  | {
      readonly scheme: 'uvx';
      readonly name: string;
      readonly extras: readonly string[];
      /** Version specifiers of PEP 440, such as `==1.2`; absent for the latest. */
      readonly version?: string;
    }
  | {
      readonly scheme: 'go';
      /** Path of a package, such as `github.com/org/repo/cmd/server`. */
      readonly package: string;
      /** `latest` when none was given. */
      readonly version: string;
    }
  | {
      readonly scheme: 'go';
      /** A folder with a main package: `./x`, `../x`, or an absolute path. */
      readonly folder: string;
    };

/** The schemes of the contract. */
export const SCHEMES = ['uvx', 'npx', 'go'] as const;

/** A target, or why there is none. */
export type SchemeRead =
  | { readonly kind: 'target'; readonly target: SchemeTarget; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string };

const READERS = { npx: readNpmPackage, uvx: readPythonPackage, go: readGoTarget };

const EXPECTED = {
  npx: 'npx://PACKAGE or npx://PACKAGE@VERSION, as the npm registry names packages',
  uvx: 'uvx://PACKAGE, uvx://PACKAGE[EXTRA], uvx://PACKAGE@VERSION or uvx://PACKAGE==VERSION',
  go: 'go://HOST/PATH, go://HOST/PATH@VERSION, or a folder: go://./PATH or go://../PATH',
};

/**
 * Reads `npx://…`, `uvx://…` or `go://…`; `undefined` when `text` is a URL or has no scheme.
 *
 * The grammars are those of npm (names, ranges, tags), PEP 508 (names, extras, version specifiers) and Go (module paths).
 */
export function readScheme(text: string): SchemeRead | undefined {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([\s\S]*)$/i.exec(text);
  const scheme = parts?.[1]?.toLowerCase();
  if (scheme === undefined || scheme === 'http' || scheme === 'https') return undefined;
  if (!isScheme(scheme)) {
    return { kind: 'refused', reason: `the scheme ${scheme}:// is not known; expected uvx://, npx:// or go://` };
  }
  const target = READERS[scheme](parts?.[2] ?? '');
  if (target === undefined) return { kind: 'refused', reason: `${shown(text)}: expected ${EXPECTED[scheme]}` };
  return { kind: 'target', target, text };
}

/** Whether a text begins with one of the schemes. */
export function isSchemeTarget(text: string): boolean {
  return /^(uvx|npx|go):\/\//i.test(text);
}

/** What a workload is called after its target. A folder is called by its own name. */
export function nameOfTarget(target: SchemeTarget, cwd: string): string {
  if ('folder' in target) return basename(resolve(cwd, target.folder));
  return target.scheme === 'go' ? target.package : target.name;
}

/** Whether the same target may be another program tomorrow. */
export function isFloating(target: SchemeTarget): boolean {
  if ('folder' in target) return false;
  const { scheme, version } = target;
  if (scheme === 'uvx') return version === undefined || !/^===?[^*,]+$/.test(version);
  if (scheme === 'go') return !/^v\d+\.\d+\.\d+/.test(version);
  return version === undefined || !/^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/.test(version); // no range
}

function isScheme(text: string): text is (typeof SCHEMES)[number] {
  return (SCHEMES as readonly string[]).includes(text);
}

/** A refused text in one line. */
function shown(text: string): string {
  const line = text.replace(/[^\x20-\x7e]/g, '?');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}

const MAX_SHOWN = 200;
