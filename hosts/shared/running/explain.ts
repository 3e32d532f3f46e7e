import { type Backend, type Gateway, nearest, present, programEnvironment, type ToolEntry } from '@toolmgr/core';

/** Where a tool comes from and which plugins affect it. */
export interface Explanation {
  readonly name: string;
  readonly found: boolean;
  /** Similar names, when it was not found. */
  readonly suggestions: readonly string[];
  readonly backend?: {
    readonly name: string;
    readonly transport: string;
    readonly status: string;
    readonly cause?: string;
    readonly revision?: string;
    readonly outgoingAuth: string;
    /** Names of the variables that its program inherits from the gateway's environment. */
    readonly inherits?: readonly string[];
  };
  /** Its name at the backend. */
  readonly original?: string;
  readonly advertised?: boolean;
  /** Why clients do not see it. */
  readonly hiddenBy?: string;
  /** Why it is held until a person approves it. */
  readonly held?: string;
  /** The only path that serves it, when there are two. */
  readonly servedAt?: 'front' | 'direct';
  /** Plugins and overrides that changed it, in order. */
  readonly shapedBy?: readonly string[];
  /** Plugins that may refuse a call, by hook and in order. */
  readonly mayRefuse: Readonly<Record<string, readonly string[]>>;
  /** Plugins that may change its calls or results. */
  readonly mayRewrite: Readonly<Record<string, readonly string[]>>;
  /** Warnings of the catalogue that name it, e.g. why it was dropped. */
  readonly warnings: readonly string[];
}

const MAX_SUGGESTIONS = 5;

/** Explains one tool of a running gateway: by its advertised name, or `workload.original`. `but` is a plugin that only the command has. */
export function explainTool(gateway: Gateway, name: string, but?: string): Explanation {
  const catalog = gateway.catalog();
  const entry = catalog.findForInnerCall(name);
  const taps = gateway.taps();
  const decided = {
    mayRefuse: tapped(taps, ['authenticate', 'authorize', 'limit'], but),
    mayRewrite: tapped(taps, ['rewriteCall', 'rewriteResult', 'wrapDispatch'], but),
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
            outgoingAuth: gateway.strategyOf(entry.backend),
            ...(state.backend.transport === 'stdio' ? { inherits: inheritedBy(state.backend) } : {}),
          },
        }),
    original: entry.original,
    advertised: entry.hiddenBy === undefined && entry.held === undefined,
    ...present({ hiddenBy: entry.hiddenBy, held: entry.held, servedAt: entry.servedAt }),
    shapedBy: entry.shapedBy,
    ...decided,
  };
}

/** Variables of the command override inherited ones. */
function inheritedBy({ command }: Backend): readonly string[] {
  return Object.keys(programEnvironment(process.env))
    .filter((name) => command?.env?.[name] === undefined)
    .sort();
}

/** The explanation as text lines. */
export function explanationLines(explanation: Explanation): string[] {
  if (!explanation.found) {
    const near = explanation.suggestions.length === 0 ? [] : [`did you mean: ${explanation.suggestions.join(', ')}`];
    return [`no tool is named ${explanation.name}`, ...near, ...explanation.warnings];
  }
  const { backend } = explanation;
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
    `tool           ${explanation.name}`,
    ...place,
    `original name  ${explanation.original}`,
    `shaped by      ${explanation.shapedBy?.length ? explanation.shapedBy.join(', ') : 'nothing: as the backend lists it'}`,
    `clients see it ${whoSees(explanation)}`,
    `may refuse     ${listed(explanation.mayRefuse)}`,
    `may rewrite    ${listed(explanation.mayRewrite)}`,
    ...explanation.warnings.map((warning) => `note           ${warning}`),
  ];
}

function whoSees({ advertised, hiddenBy, held, servedAt }: Explanation): string {
  if (held !== undefined) return `no, held until a person approves it: ${held}`;
  if (!advertised) return `no, hidden by ${hiddenBy}; calls inside the gateway reach it`;
  return servedAt === 'direct' ? 'through dispatcher tools, and in the list of the direct path' : 'yes';
}

function listed(taps: Readonly<Record<string, readonly string[]>>): string {
  const parts = Object.entries(taps).map(([hook, plugins]) => `${hook}: ${plugins.join(', ')}`);
  return parts.length === 0 ? 'no plugin' : parts.join(' · ');
}

function tapped(
  taps: Readonly<Record<string, readonly string[]>>,
  hooks: readonly string[],
  but: string | undefined,
): Readonly<Record<string, readonly string[]>> {
  const named = hooks.map((hook) => [hook, (taps[hook] ?? []).filter((plugin) => plugin !== but)] as const);
  return Object.fromEntries(named.filter(([, plugins]) => plugins.length > 0));
}

function names(warning: string, word: string): boolean {
  return warning.split(/[^A-Za-z0-9_./-]+/).includes(word);
}

/** Tools with exactly this original name, then names that contain it, then the most similar name. */
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
