import { createHooks, type Hooks } from '../../core/extension/hooks.ts';
import { STAGE } from '../../core/extension/stages.ts';
import { definedTable } from './defined-points.ts';
import { code, page, table } from './markdown.ts';

/** Text about a hook. */
export interface HookProse {
  /** Arguments and result as types. */
  readonly signature: string;
  readonly purpose: string;
  /** Meaning when no plugin taps it, or when every tap returns `undefined`. */
  readonly empty: string;
  readonly thrown: string;
  readonly when: string;
}

/** One entry per hook of the live table, in the order of the page. */
export const HOOK_PROSE = {
  authenticate: {
    signature: '(inbound: Inbound) → Caller | Refusal | undefined',
    purpose: 'authenticates the caller',
    empty: 'without a tap the gateway does not start (`PLAN_INCOMPLETE`); if no tap answers: 401',
    thrown: 'the request is refused with 500',
    when: 'once per HTTP request on the endpoint, before its body is read',
  },
  rewriteCall: {
    signature: '(call: Call) → Call | Refusal',
    purpose: 'changes a call: arguments, name, metadata; a refusal ends it, and no later tap runs',
    empty: 'the call is unchanged',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'per call, first; a new name is looked up again and authorized under that name',
  },
  authorize: {
    signature: '(call: Call) → Refusal | undefined',
    purpose: 'decides whether the caller may make this call; the first refusal wins',
    empty: 'allowed',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'per call and per round, after rewriteCall; inner calls and resource subscriptions too. Unknown names are authorized too (`target.isMissing`), so that a refusal does not reveal which names exist',
  },
  limit: {
    signature: '(call: Call) → Refusal | undefined',
    purpose: 'limits the rate of calls',
    empty: 'no limit',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'once per call, after authorize: a denied call and a further round of the same call use no token',
  },
  wrapDispatch: {
    signature: '(dispatch: Dispatch) → Dispatch',
    purpose: 'wraps the sending of calls: spans, deadlines, breakers',
    empty: 'no layer',
    thrown: 'the gateway does not start',
    when: 'the hook once, at boot; the returned function once per sending',
  },
  rewriteResult: {
    signature: '(result: CallResult, call: Call) → CallResult',
    purpose: 'changes a result',
    empty: "the backend's bytes are forwarded without decoding",
    thrown: 'the call fails with -32603; the result is not sent',
    when: 'per call, after the target answered; not for refusals and errors',
  },
  advertise: {
    signature: '(entries: readonly CatalogEntry[], caller: Caller) → readonly CatalogEntry[]',
    purpose: 'removes entries that this caller may not see from a list',
    empty: 'all callers of one capability class get the same list, serialised once',
    thrown: 'the list fails with -32603',
    when: 'per list request of each kind: tools, prompts, resources, templates',
  },
  shapeCatalog: {
    signature: '(draft: CatalogDraft, inputs: CatalogInputs) → CatalogDraft',
    purpose: 'names, filters and overrides what backends offer; a pure function',
    empty: 'all entries keep the names of their backends',
    thrown: 'the previous catalogue stays',
    when: 'when the lists of a backend change; never during a call',
  },
  shapeInstructions: {
    signature: '(instructions: readonly BackendInstructions[]) → readonly BackendInstructions[]',
    purpose: 'removes or changes what backends tell clients about their use; a pure function',
    empty: 'the instructions of every backend are passed on, after its name',
    thrown: 'the start of a session, or `server/discover`, fails with -32603',
    when: 'when a client starts, if backends or lists changed since the last time',
  },
  callSettled: {
    signature: '(record: CallRecord) → void',
    purpose: 'receives the record of a finished call; must only enqueue',
    empty: 'no effect',
    thrown: 'logged; the other taps still run',
    when: 'once per call with all its rounds, when the reply is decided; also for refused, failed and abandoned calls',
  },
  requestSettled: {
    signature: '(record: RequestRecord) → void',
    purpose:
      'receives the record of every HTTP request, MCP or not, served or refused, with its response; must only enqueue',
    empty: 'no effect; no record is made',
    thrown: 'logged; the other taps still run',
    when: 'once per request, after its response was written to the connection; for an event stream after its end',
  },
  streamOpened: {
    signature: '(record: RequestRecord) → void',
    purpose: 'reports that the response to a request has become an event stream, which may last for days',
    empty: 'no effect',
    thrown: 'logged; the other taps still run',
    when: 'when the stream begins; `requestSettled` follows when it ends',
  },
  sessionEnded: {
    signature: '(ended: SessionEnded) → void',
    purpose: 'reports that a legacy client session ended, and why',
    empty: 'no effect',
    thrown: 'logged; the other taps still run',
    when: 'on DELETE, expiry, use by another caller, and shutdown',
  },
  backendChanged: {
    signature: '(changed: BackendChanged) → void',
    purpose: 'reports that a backend was added, removed, or changed its status',
    empty: 'no effect',
    thrown: 'logged; the other taps still run',
    when: 'on change',
  },
  catalogRebuilt: {
    signature: '(rebuilt: CatalogRebuilt) → void',
    purpose: 'reports that a catalogue has changed',
    empty: 'no effect',
    thrown: 'logged; the other taps still run',
    when: 'on change, per capability class',
  },
  loopBlocked: {
    signature: '(blocked: LoopBlocked) → void',
    purpose:
      'reports that a plugin ran longer than `limits.blockedMs` without a pause, so that nothing else was served',
    empty: 'no effect; the log has a line all the same',
    thrown: 'logged; the other taps still run',
    when: 'when the tap has returned; for work that no tap began, in programs of toolmgr, within a second',
  },
  mount: {
    signature: '(routes: RouteTable) → void',
    purpose: 'adds HTTP routes with exact paths',
    empty: 'no further routes: other paths give 404',
    thrown: 'the gateway does not start',
    when: 'once, at boot',
  },
  starting: {
    signature: '() → void',
    purpose: 'opens what the plugin needs: files, sockets, timers',
    empty: 'nothing to open',
    thrown: 'the gateway does not start; every stopping tap runs, last plugin first',
    when: 'once, in plan order, before any backend is opened',
  },
  stopping: {
    signature: '() → void',
    purpose: 'closes what starting opened',
    empty: 'nothing to close',
    thrown: 'logged; the other plugins still stop',
    when: 'once, after calls and backends have ended, in reverse plan order and one after the other',
  },
} as const satisfies Record<keyof Hooks, HookProse>;

/** A hook, read from its live object. */
export interface LiveHook {
  readonly name: string;
  /** tapable's class, e.g. `AsyncSeriesBailHook`. */
  readonly kind: string;
  readonly argumentNames: readonly string[];
}

/** Every hook of `createHooks()`, in its order. */
export function liveHooks(): readonly LiveHook[] {
  return Object.entries(createHooks(() => {})).map(([name, hook]) => ({
    name,
    kind: hook.constructor.name,
    argumentNames: (hook as unknown as { readonly _args: readonly string[] })._args,
  }));
}

/** docs/reference/hooks.md */
export function hooksPage(): string {
  const kinds = new Map(liveHooks().map(({ name, kind }) => [name, kind]));
  const entries = Object.entries(HOOK_PROSE) as [keyof Hooks, HookProse][];
  return page('Hooks', '`core/extension/hooks.ts`, read from the live table', [
    'A hook is for stages where several plugins may decide or react. A hook with an imperative name (`authorize`) uses the result; one with a past participle (`callSettled`) ignores it. `undefined` means "no opinion". A refusal is a value; a thrown exception is a fault, and a call with a fault is never forwarded.',
    table(
      ['hook', 'kind', 'signature'],
      entries.map(([name, { signature }]) => [
        `[${code(name)}](#${name.toLowerCase()})`,
        kinds.get(name) ?? '',
        code(signature),
      ]),
    ),
    ORDER,
    ...entries.map(([name, prose]) =>
      [
        `## ${name}`,
        `${prose.purpose.charAt(0).toUpperCase()}${prose.purpose.slice(1)}.`,
        [
          `- Kind: ${KINDS[kinds.get(name) ?? ''] ?? kinds.get(name)}`,
          `- Runs: ${prose.when}`,
          `- Empty: ${prose.empty}`,
          `- A tap throws: ${prose.thrown}`,
        ].join('\n'),
      ].join('\n\n'),
    ),
    '## Hooks of packages',
    'A package defines a hook of its own with `defineHook`, and exports it ([example](../guides/plugin-parts.md)). It is used as `core.hook(value)`. An `event` ignores results, a `decision` takes the first one, a `change` passes each result on.',
    definedTable('hook'),
  ]);
}

/** Meaning of tapable's classes. */
export const KINDS: Readonly<Record<string, string>> = {
  AsyncSeriesBailHook: 'taps run in order, the first result wins (`tap` or `tapPromise`)',
  AsyncSeriesWaterfallHook: 'each result is the argument of the next tap (`tap` or `tapPromise`)',
  SyncWaterfallHook: 'each result is the argument of the next tap, synchronous (`tap`)',
  SyncHook: 'all taps run, synchronous (`tap`)',
  AsyncSeriesHook: 'taps run one after the other (`tap` or `tapPromise`)',
};

const ORDER = [
  '## Order',
  `Within one hook, taps run by stage, and within one stage in the order of the plan. Stages, from first to last: ${Object.keys(
    STAGE,
  )
    .map(code)
    .join(
      ', ',
    )}; \`tap({ name: ADDRESS, stage: STAGE.early }, …)\`. A plugin taps a hook once, under its address; every tap after boot is refused.`,
].join('\n\n');
