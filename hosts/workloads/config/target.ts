import { basename, resolve } from 'node:path';
import { commandFromScheme, findProgram } from '@toolmgr/plugins';
import { isImageReference } from '@toolmgr/plugins/kit/oci';
import { nameOfTarget, readScheme, type SchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { findEngine, namesEngine } from '@toolmgr/plugins/workloads/container';
import { explainMissing, missingEngineClient } from '../../shared/product-features.ts';

/** What TARGET means, or why it cannot be run. */
export type Target =
  | { readonly kind: 'url'; readonly url: string; readonly name: string }
  | {
      readonly kind: 'command';
      readonly command: { readonly file: string; readonly args: readonly string[] };
      readonly env: Readonly<Record<string, string>>;
      readonly name: string;
      readonly warnings?: readonly string[];
    }
  | {
      readonly kind: 'image';
      /** A reference, or a package that is made into an image. */
      readonly image: string;
      readonly name: string;
      readonly isPackage?: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Parses TARGET: a URL, `npx://`, `uvx://` or `go://`, a program (a path or a name on PATH), or a container image.
 *
 * A word that is no program is an image, unless `runtime` is process. Names of the registry were looked up before.
 * Refuses other targets; the reason names the forms that work.
 */
export async function readTarget(
  target: string,
  args: readonly string[],
  cwd: string,
  runtime?: 'process' | 'container',
): Promise<Target> {
  if (/^https?:/i.test(target)) return readUrl(target, args);
  const scheme = readScheme(target);
  if (scheme?.kind === 'refused') return { kind: 'refused', reason: `${scheme.reason}. ${SUPPORTED_TARGETS}` };
  if (scheme !== undefined) return readPackage(target, scheme.target, args, cwd, runtime);
  if (runtime === 'container') return readImage(target);
  const found = await findProgram(target, cwd, process.env.PATH);
  if (found.kind === 'found') {
    const name = nameFrom(basename(target).replace(/\.[a-z]{1,4}$/i, ''));
    return { kind: 'command', command: { file: found.path, args }, env: {}, name };
  }
  if (found.kind === 'notExecutable') {
    const reason = `${target} is not executable: chmod +x it, or name its interpreter (toolmgr run node -- ${target})`;
    return { kind: 'refused', reason };
  }
  if (runtime === undefined && isImageReference(target)) return readImage(target);
  return {
    kind: 'refused',
    reason:
      `there is no program ${target} here or on PATH, and it is not the name of a registry entry or of a container image. ` +
      SUPPORTED_TARGETS,
  };
}

/**
 * A package runs in a container where an engine answers, else as a process with a warning. An engine that a variable names
 * must answer: then a process would be less isolation than was asked for. Without the optional client of the engines, none can be used.
 */
async function readPackage(
  text: string,
  target: SchemeTarget,
  args: readonly string[],
  cwd: string,
  runtime: string | undefined,
): Promise<Target> {
  const name = nameFrom(nameOfTarget(target, cwd).replace(/^@/, ''));
  const image = 'folder' in target ? `go://${resolve(cwd, target.folder)}` : text;
  const asked = runtime ?? process.env.TOOLMGR_RUNTIME;
  if (asked === 'container') return { kind: 'image', image, name, isPackage: true };
  const warnings: string[] = [];
  if (asked !== 'process') {
    const found = await usableEngine();
    if (found.kind === 'found') return { kind: 'image', image, name, isPackage: true };
    if (found.isNamed) return { kind: 'refused', reason: `${text}: ${found.reason}` };
    warnings.push(`${found.why}: ${text} runs as a process, nothing isolates it, and it has your rights`);
  }
  const outcome = await commandFromScheme(text, args, { cwd, env: process.env });
  if (outcome === undefined || outcome.kind === 'refused') return { kind: 'refused', reason: outcome?.reason ?? text };
  const { env, ...command } = outcome.command;
  return { kind: 'command', command, env, name, warnings };
}

/** Whether an engine can be used; otherwise the reason for a refusal, and in short `why` for a warning. */
async function usableEngine(): Promise<
  | { readonly kind: 'found' }
  | { readonly kind: 'none'; readonly reason: string; readonly why: string; readonly isNamed: boolean }
> {
  const missing = missingEngineClient();
  if (missing !== undefined) {
    const why = `no container engine can be used (${explainMissing(missing)})`;
    return {
      kind: 'none',
      reason: `${why}; or run it as a process (--runtime process)`,
      why,
      isNamed: namesEngine(process.env),
    };
  }
  const found = await findEngine(process.env);
  return found.kind === 'found' ? found : { ...found, why: 'no container engine answers' };
}

/** Targets that can be run, for error texts. */
const SUPPORTED_TARGETS =
  'What works: npx://PACKAGE, uvx://PACKAGE, go://PACKAGE, an http(s) URL, a container image, or a local program with its ' +
  'arguments after --';

function readImage(target: string): Target {
  if (!isImageReference(target)) {
    return {
      kind: 'refused',
      reason: `${target} is not a reference of a container image, such as ghcr.io/org/server:1.2`,
    };
  }
  const path = target.replace(/@.*$/, '').replace(/:[^/]*$/, '');
  return { kind: 'image', image: target, name: nameFrom(path.split('/').slice(-2).join('-')) };
}

function readUrl(target: string, args: readonly string[]): Target {
  const refused = (reason: string): Target => ({ kind: 'refused', reason });
  if (!URL.canParse(target)) return refused('TARGET looks like a URL but is not valid');
  const url = new URL(target);
  if (url.username !== '' || url.password !== '') {
    return refused('a URL must not hold a user name or password: it would appear in logs and process lists');
  }
  if (args.length > 0) return refused('a URL takes no arguments after --: they are for programs');
  return { kind: 'url', url: target, name: nameFrom(hostLabel(url.hostname)) };
}

/** The second-to-last label of a host name (`api.example.com` is `example`), or the whole of a short one or address. */
function hostLabel(host: string): string {
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return host;
  return host.split('.').at(-2) ?? host;
}

/** Converts any text to a valid workload name. */
function nameFrom(text: string): string {
  const name = text.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return name === '' ? 'workload' : name.slice(0, MAX_NAME);
}

const MAX_NAME = 100;
