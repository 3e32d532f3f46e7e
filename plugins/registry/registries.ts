import { type MergedRegistry, mergeRegistries, type NamedRegistry } from './merge-registries.ts';
import type { SourceProblem } from './source-problem.ts';
import type { LoadedRegistry, LoadOptions, RegistrySource } from './sources.ts';
import { describeSource, loadRegistry, loadRegistryFor } from './sources.ts';

/** Where people sign in to a registry. Source: reference workload-api §6.5. */
export interface RegistryAuth {
  readonly issuer: string;
  readonly clientId: string;
  readonly audience?: string;
  readonly scopes?: readonly string[];
  /** Port of the callback on this machine. */
  readonly callbackPort?: number;
}

/** A registry in the settings of the user. */
export interface ConfiguredRegistry {
  readonly name: string;
  readonly source: RegistrySource;
  readonly allowPrivateAddresses: boolean;
  readonly auth?: RegistryAuth;
}

/** Access tokens of signed-in registries. */
export interface RegistryTokens {
  /** @throws NeedsSignIn when there is no token */
  bearer(registry: ConfiguredRegistry, signal: AbortSignal): Promise<string>;
  /** Whether someone signed in. */
  hasLogin(registry: ConfiguredRegistry): Promise<boolean>;
}

/** How registries are loaded. */
export interface LoadAll {
  readonly refresh?: boolean;
  readonly signal?: AbortSignal;
}

/** All registries as one, with what a user should know; a problem when none of them can be loaded. */
export type LoadedAll =
  | {
      readonly registry: MergedRegistry;
      readonly notes: readonly string[];
      /** Registries that are not available. */
      readonly away: readonly (SourceProblem & { readonly name: string })[];
    }
  | SourceProblem;

/** The registries of a user. */
export interface Registries {
  /** In the order of their priority. */
  configured(): Promise<readonly ConfiguredRegistry[]>;
  /** All registries at once: one that does not answer delays the others for its time limit at most. */
  load(options?: LoadAll): Promise<LoadedAll>;
  /** Loads at least what `name` can mean. */
  loadFor(name: string, options?: LoadAll): Promise<LoadedAll>;
  /** One registry, without the others. */
  loadOne(registry: ConfiguredRegistry, options?: LoadAll): Promise<LoadedRegistry>;
}

/** What {@link createRegistries} needs. */
export interface RegistriesParts {
  /** Reads the settings, each time. @throws Error when they are not valid */
  configured(): Promise<readonly ConfiguredRegistry[]>;
  readonly tokens: RegistryTokens;
  readonly cacheDir?: string;
  /** For processes that run long: a registry that was loaded is used for this time, in milliseconds. */
  readonly remembersMs?: number;
  readonly now?: () => number;
}

/** A registry that did not answer is asked again after this time. */
const RETRY_MS = 15_000;
const MAX_REMEMBERED = 64;
/** A file is read again after this time. */
const FILE_MS = 1_000;

/** Reads the registries of a user. */
export function createRegistries(parts: RegistriesParts): Registries {
  const { configured, remembersMs = 0, now = Date.now } = parts;
  const join = rememberLast();
  const remembered = new Map<string, { readonly loaded: Promise<LoadedRegistry>; untilMs: number }>();

  const optionsFor = (registry: ConfiguredRegistry, { refresh = false, signal }: LoadAll): LoadOptions => ({
    allowPrivateAddresses: registry.allowPrivateAddresses,
    refresh,
    ...(parts.cacheDir === undefined ? {} : { cacheDir: parts.cacheDir }),
    ...(signal === undefined ? {} : { signal }),
    ...(registry.auth === undefined ? {} : { bearer: (end: AbortSignal) => parts.tokens.bearer(registry, end) }),
  });
  const loadOne: Registries['loadOne'] = async (registry, options = {}) => {
    if (remembersMs === 0) {
      return loadRegistry(registry.source, optionsFor(registry, options));
    }
    const key = JSON.stringify(registry);
    const before = remembered.get(key);
    if (before !== undefined && options.refresh !== true && now() < before.untilMs) return before.loaded;
    // without the caller's signal, because other callers wait for it too
    const { signal: _, ...shared } = options;
    const loaded = loadRegistry(registry.source, optionsFor(registry, shared));
    const entry = { loaded, untilMs: Number.POSITIVE_INFINITY };
    remembered.delete(key);
    remembered.set(key, entry);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    const forMs = await loaded.then((result) => usableMs(registry, result, remembersMs)).catch(() => 0);
    entry.untilMs = now() + forMs;
    return loaded;
  };
  const all = async (load: (registry: ConfiguredRegistry) => Promise<LoadedRegistry>): Promise<LoadedAll> => {
    const sources = await configured();
    const results = await Promise.all(sources.map(async (source) => ({ source, result: await load(source) })));
    return join(results);
  };
  return {
    configured,
    loadOne,
    load: (options = {}) => all((registry) => loadOne(registry, options)),
    loadFor: (name, options = {}) =>
      all((registry) =>
        remembersMs > 0
          ? loadOne(registry, options)
          : loadRegistryFor(registry.source, name, optionsFor(registry, options)),
      ),
  };
}

function usableMs({ source }: ConfiguredRegistry, result: LoadedRegistry, remembersMs: number): number {
  if ('problem' in result) return result.kind === 'auth' ? 0 : Math.min(RETRY_MS, remembersMs);
  if (source.type === 'file') return Math.min(FILE_MS, remembersMs);
  return result.notes.length > 0 ? Math.min(RETRY_MS, remembersMs) : remembersMs;
}

interface Result {
  readonly source: ConfiguredRegistry;
  readonly result: LoadedRegistry;
}

/** Joining ten thousand entries takes tens of milliseconds: the same registries are joined once. */
function rememberLast(): (results: readonly Result[]) => LoadedAll {
  let last: { readonly results: readonly Result[]; readonly joined: LoadedAll } | undefined;
  return (results) => {
    const isSame =
      last?.results.length === results.length &&
      last.results.every(
        ({ source, result }, at) => result === results[at]?.result && source.name === results[at]?.source.name,
      );
    if (last === undefined || !isSame) last = { results, joined: joined(results) };
    return last.joined;
  };
}

function joined(results: readonly Result[]): LoadedAll {
  const found: NamedRegistry[] = [];
  const notes: string[] = [];
  const away: (SourceProblem & { readonly name: string })[] = [];
  for (const { source, result } of results) {
    if ('problem' in result) {
      away.push({ ...result, name: source.name });
      notes.push(result.problem);
    } else {
      found.push({ name: source.name, registry: result.registry });
      notes.push(...result.notes);
    }
  }
  const problem = away.find(({ kind }) => kind === 'auth') ?? away[0];
  if (found.length === 0 && problem !== undefined) {
    return { problem: away.map((each) => each.problem).join('; '), kind: problem.kind };
  }
  return { registry: mergeRegistries(found), notes, away };
}

/** The registries in messages: `the built-in registry`, or `the registries a and b`. */
export function describeRegistries(registries: readonly ConfiguredRegistry[]): string {
  const [first, ...others] = registries;
  if (first === undefined) return 'no registry';
  if (others.length === 0) return describeSource(first.source);
  const names = registries.map(({ name }) => name);
  return `the registries ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
