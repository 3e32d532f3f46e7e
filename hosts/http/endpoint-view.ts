import { type CatalogEntry, type Gateway, present, shortened } from '@toolmgr/core';

/** What clients of an endpoint see, and why: names before and after aggregation. */
export interface EndpointView {
  readonly name: string;
  /** Path of the MCP endpoint. */
  readonly path: string;
  readonly backends: readonly EndpointBackend[];
  /** Sorted by kind and key; tools that clients do not see are included. */
  readonly entries: readonly EndpointEntry[];
  /** True when there are more than {@link MAX_ENTRIES}; the first ones are listed. */
  readonly isCut: boolean;
  /** What was dropped or collides, as sentences. */
  readonly warnings: readonly string[];
  /** Plugins per hook, in running order. */
  readonly plugins: Readonly<Record<string, readonly string[]>>;
}

/** A backend of an endpoint. */
export interface EndpointBackend {
  readonly name: string;
  readonly transport: string;
  readonly status: string;
  readonly cause?: string;
  readonly revision?: string;
  /** Name of the strategy of its credentials. */
  readonly outgoingAuth: string;
}

/** A tool, prompt, resource or template of an endpoint. */
export interface EndpointEntry {
  readonly kind: CatalogEntry['kind'];
  /** The name that clients use. */
  readonly key: string;
  readonly backend: string;
  /** The backend's own name. */
  readonly original: string;
  readonly title?: string;
  readonly description?: string;
  readonly hiddenBy?: CatalogEntry['hiddenBy'];
  readonly servedAt?: 'front' | 'direct';
  /** What changed the entry, in order. */
  readonly shapedBy: readonly string[];
}

/** Entries of one view. */
const MAX_ENTRIES = 5_000;
/** Characters of a description; pages show the whole one from the list of the endpoint. */
const MAX_DESCRIPTION = 300;
const KINDS = ['prompt', 'resource', 'template'] as const satisfies readonly CatalogEntry['kind'][];

/**
 * Describes the endpoint of a running gateway. Reads lists that are in memory.
 *
 * `authTypeOf` names the strategies of a host with one of its own, as its status pages do.
 */
export function endpointView(
  gateway: Pick<Gateway, 'name' | 'backends' | 'catalog' | 'strategyOf' | 'taps'>,
  path: string,
  authTypeOf: (backend: string) => string = gateway.strategyOf,
): EndpointView {
  const catalog = gateway.catalog();
  const all = [...catalog.allTools(), ...KINDS.flatMap((kind) => catalog.visible(kind))];
  return {
    name: gateway.name,
    path,
    backends: gateway.backends().map(({ backend, status, cause, era }) => ({
      name: backend.name,
      transport: backend.transport,
      status,
      ...(cause === undefined ? {} : { cause: `${cause.category}: ${cause.message}` }),
      ...(era === undefined ? {} : { revision: era }),
      outgoingAuth: authTypeOf(backend.name),
    })),
    entries: all.slice(0, MAX_ENTRIES).map(entryFrom),
    isCut: all.length > MAX_ENTRIES,
    warnings: catalog.warnings,
    plugins: gateway.taps(),
  };
}

function entryFrom({
  kind,
  key,
  backend,
  original,
  definition,
  hiddenBy,
  servedAt,
  shapedBy,
}: CatalogEntry): EndpointEntry {
  const { title, description } = JSON.parse(definition.toString()) as Record<string, unknown>;
  return {
    kind,
    key,
    backend,
    original,
    ...(typeof title === 'string' ? { title: shortened(title, MAX_DESCRIPTION) } : {}),
    ...(typeof description === 'string' ? { description: shortened(description, MAX_DESCRIPTION) } : {}),
    ...present({ hiddenBy, servedAt }),
    shapedBy,
  };
}
