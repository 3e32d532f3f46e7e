import { type Backend, type Gateway, inheritedEnvironment, nearest, type Plan, type ToolEntry } from '@toolmgr/core';

/** Everything that decides about one tool. */
export interface Explanation {
  readonly name: string;
  readonly found: boolean;
  /** Near names, when it was not found. */
  readonly suggestions: readonly string[];
  readonly backend?: {
    readonly name: string;
    readonly transport: string;
    readonly status: string;
    readonly cause?: string;
    readonly revision?: string;
    readonly outgoingAuth: string;
    /** Variables that its program gets of the gateway's own environment, by name. */
    readonly inherits?: readonly string[];
  };
  /** Name that the backend knows it by. */
  readonly original?: string;
  readonly advertised?: boolean;
  /** Why clients do not see it. */
  readonly hiddenBy?: string;
  /** The one door that it is served at, when there are two. */
  readonly servedAt?: 'front' | 'direct';
  /** What changed it, in order; overrides are among them. */
  readonly shapedBy?: readonly string[];
  /** Plugins that may refuse a call of it, in the order they are asked, by what they decide. */
  readonly mayRefuse: Readonly<Record<string, readonly string[]>>;
  /** Plugins that may change its calls or results. */
  readonly mayRewrite: Readonly<Record<string, readonly string[]>>;
  /** Sentences of the catalogue that name it, e.g. why it was dropped. */
  readonly warnings: readonly string[];
}

const MAX_SUGGESTIONS = 5;

/** Explains one tool of a running gateway: by its advertised name, or `workload.original`. */
export function explainTool(gateway: Gateway, plan: Plan, name: string): Explanation {
  const catalog = gateway.catalog();
  const entry = catalog.findInside(name);
  const taps = gateway.taps();
  const decided = {
    mayRefuse: tapped(taps, ['authenticate', 'authorize', 'limit']),
    mayRewrite: tapped(taps, ['rewriteCall', 'rewriteResult', 'wrapDispatch']),
    warnings: catalog.warnings.filter((warning) => names(warning, name) || (entry && names(warning, entry.original))),
  };
  if (entry === undefined) {
    return { name, found: false, suggestions: suggestionsFor(name, catalog.allTools()), ...decided };
  }
  const state = gateway.backends().find(({ backend }) => backend.name === entry.backend);
  return {
    name: entry.key,
    found: true,
    suggestions: [],
    ...(state === undefined
      ? {}
      : {
          backend: {
            name: entry.backend,
            transport: state.backend.transport,
            status: state.status,
            ...(state.cause === undefined ? {} : { cause: `${state.cause.category}: ${state.cause.message}` }),
            ...(state.era === undefined ? {} : { revision: state.era }),
            outgoingAuth: (plan.outgoingAuth.backends[entry.backend] ?? plan.outgoingAuth.default).type,
            ...(state.backend.transport === 'stdio' ? { inherits: inheritedBy(state.backend) } : {}),
          },
        }),
    original: entry.original,
    advertised: entry.hiddenBy === undefined,
    ...(entry.hiddenBy === undefined ? {} : { hiddenBy: entry.hiddenBy }),
    ...(entry.servedAt === undefined ? {} : { servedAt: entry.servedAt }),
    shapedBy: entry.shapedBy,
    ...decided,
  };
}

/** What a program is given itself goes before what it would inherit. */
function inheritedBy({ command }: Backend): readonly string[] {
  return Object.keys(inheritedEnvironment())
    .filter((name) => command?.env?.[name] === undefined)
    .sort();
}

/** The explanation as lines for a person. */
export function explanationLines(told: Explanation): string[] {
  if (!told.found) {
    const near = told.suggestions.length === 0 ? [] : [`did you mean: ${told.suggestions.join(', ')}`];
    return [`no tool is named ${told.name}`, ...near, ...told.warnings];
  }
  const { backend } = told;
  const place =
    backend === undefined
      ? ['answered by    the gateway itself']
      : [
          `backend        ${backend.name} (${backend.transport}, ${backend.status}${backend.revision ? `, MCP ${backend.revision}` : ''})`,
          ...(backend.cause === undefined ? [] : [`               ${backend.cause}`]),
          `credentials    ${backend.outgoingAuth}`,
          ...(backend.inherits === undefined ? [] : [`inherits       ${backend.inherits.join(', ')}`]),
        ];
  return [
    `tool           ${told.name}`,
    ...place,
    `original name  ${told.original}`,
    `shaped by      ${told.shapedBy?.length ? told.shapedBy.join(', ') : 'nothing: as the backend lists it'}`,
    `clients see it ${whoSees(told)}`,
    `may refuse     ${listed(told.mayRefuse)}`,
    `may rewrite    ${listed(told.mayRewrite)}`,
    ...told.warnings.map((warning) => `note           ${warning}`),
  ];
}

function whoSees({ advertised, hiddenBy, servedAt }: Explanation): string {
  if (!advertised) return `no, hidden by ${hiddenBy}; calls inside the gateway reach it`;
  return servedAt === 'direct' ? 'through tools that lead to it, and in the list of the direct path' : 'yes';
}

function listed(taps: Readonly<Record<string, readonly string[]>>): string {
  const parts = Object.entries(taps).map(([hook, plugins]) => `${hook}: ${plugins.join(', ')}`);
  return parts.length === 0 ? 'no plugin' : parts.join(' · ');
}

function tapped(
  taps: Readonly<Record<string, readonly string[]>>,
  hooks: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    hooks.flatMap((hook) => (taps[hook]?.length ? ([[hook, taps[hook]]] as [string, readonly string[]][]) : [])),
  );
}

function names(warning: string, word: string): boolean {
  return warning.split(/[^A-Za-z0-9_./-]+/).includes(word);
}

/** Tools whose original name is exactly this, then those that contain it, then the nearest by spelling of both ways to name one. */
function suggestionsFor(name: string, tools: readonly ToolEntry[]): string[] {
  const lower = name.toLowerCase();
  const same = tools.filter((tool) => tool.original === name);
  const containing = tools.filter((tool) => tool.key.toLowerCase().includes(lower));
  const near = nearest(
    name,
    tools.flatMap(({ key, backend: workload, original }) => [key, `${workload}.${original}`]),
  );
  const keys = [...same, ...containing].map((tool) => tool.key);
  return [...new Set(near === undefined ? keys : [...keys, near])].slice(0, MAX_SUGGESTIONS);
}
