import { createHooks, type Hooks } from '../../core/extension/hooks.ts';
import { STAGE } from '../../core/extension/stages.ts';
import { code, page, table } from './markdown.ts';

/** What the page says about a hook that its object cannot say. */
export interface HookProse {
  /** Arguments and answer, in the words of the types. */
  readonly signature: string;
  readonly purpose: string;
  /** What it means that nobody tapped, or that every tap answered `undefined`. */
  readonly empty: string;
  readonly thrown: string;
  readonly when: string;
}

/** One entry per hook of the live table, in the order of the page. */
export const HOOK_PROSE = {
  authenticate: {
    signature: '(inbound: Inbound) → Caller | Refusal | undefined',
    purpose: 'says who asks',
    empty: 'nobody tapped: the gateway does not start (`PLAN_INCOMPLETE`); nobody answered: 401',
    thrown: 'the request is refused with 500; nobody gets in',
    when: 'once per HTTP request on the endpoint, before its body is looked at',
  },
  rewriteCall: {
    signature: '(call: Call) → Call',
    purpose: 'changes a call: arguments, name, metadata',
    empty: 'the call stays as it is',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'per call, first; a new name is looked up again and authorized under that name',
  },
  authorize: {
    signature: '(call: Call) → Refusal | undefined',
    purpose: 'decides whether the caller may make this call; the first objection wins',
    empty: 'allowed',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'per call and per round, after rewriteCall; inner calls and resource subscriptions too. A name that nobody has is decided as well (`target.isMissing`), so that a call tells no more than the lists',
  },
  limit: {
    signature: '(call: Call) → Refusal | undefined',
    purpose: 'decides whether the caller has calls left',
    empty: 'no limit',
    thrown: 'the call fails with -32603; it is not sent',
    when: 'once per call, after authorize: a denied call and a further round of the same call spend nothing',
  },
  wrapDispatch: {
    signature: '(dispatch: Dispatch) → Dispatch',
    purpose: 'puts a layer around the sending of calls: spans, deadlines, breakers',
    empty: 'no layer',
    thrown: 'the gateway does not start',
    when: 'the hook once, at boot; the layer it returns once per sending',
  },
  rewriteResult: {
    signature: '(result: CallResult, call: Call) → CallResult',
    purpose: 'changes a result',
    empty: "the backend's bytes go to the client undecoded",
    thrown: 'the call fails with -32603; the result is not sent',
    when: 'per call, after the target answered; not for refusals and errors',
  },
  advertise: {
    signature: '(entries: readonly CatalogEntry[], caller: Caller) → readonly CatalogEntry[]',
    purpose: 'leaves out of a list what this caller may not see',
    empty: 'everybody of one capability class gets the same list, serialised once',
    thrown: 'the list fails with -32603',
    when: 'per list request of each kind: tools, prompts, resources, templates',
  },
  shapeCatalog: {
    signature: '(draft: CatalogDraft, inputs: CatalogInputs) → CatalogDraft',
    purpose: 'names, filters and overrides what backends offer; a pure function',
    empty: 'everything under the name that its backend gave it',
    thrown: 'the catalogue stays as it was',
    when: 'whenever the lists of a backend changed, never in the middle of a call',
  },
  callSettled: {
    signature: '(record: CallRecord) → void',
    purpose: 'hears how a call ended; must only enqueue',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'once per call, all its rounds together, when the reply is decided; also for refused, failed and abandoned calls',
  },
  requestSettled: {
    signature: '(record: RequestRecord) → void',
    purpose:
      'hears of every HTTP request, whether it was MCP or not, served or refused, and how it was answered; must only enqueue',
    empty: 'nobody hears it, and no record is kept',
    thrown: 'logged; the other listeners still run',
    when: 'once per request, after its answer was handed to the connection; of an event stream after its end',
  },
  streamOpened: {
    signature: '(record: RequestRecord) → void',
    purpose: 'hears that the answer to a request has become an event stream, which may last for days',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'when the stream begins; `requestSettled` follows when it ends',
  },
  workflowAdvanced: {
    signature: '(advanced: WorkflowAdvanced) → void',
    purpose: 'hears that a workflow or a step of one has begun, ended, or was passed over; must only enqueue',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'told by the plugin that runs the workflow; without one, never',
  },
  toolSearched: {
    signature: '(sought: ToolSearched) → void',
    purpose:
      'hears that a caller searched for a tool, or called one by way of a search, and what came of it; must only enqueue',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'told by the plugin that hides tools behind a search; without one, never',
  },
  limitSkipped: {
    signature: '(skipped: LimitSkipped) → void',
    purpose: 'hears that a call passed unlimited because its limits could not be checked; must only enqueue',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'told by the plugin that limits calls, per call',
  },
  sessionEnded: {
    signature: '(ended: SessionEnded) → void',
    purpose: 'hears that a legacy client session ended, and why',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'on DELETE, expiry, use by another caller, and shutdown',
  },
  backendChanged: {
    signature: '(changed: BackendChanged) → void',
    purpose: 'hears that a backend came, left, or changed its status',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'on change',
  },
  catalogRebuilt: {
    signature: '(rebuilt: CatalogRebuilt) → void',
    purpose: 'hears that a catalogue differs from the one before',
    empty: 'nobody hears it',
    thrown: 'logged; the other listeners still run',
    when: 'on change, per capability class',
  },
  mount: {
    signature: '(routes: RouteTable) → void',
    purpose: 'adds HTTP routes beside the endpoint; exact paths',
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

/** A hook as its live object shows it. */
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
    'A hook is for stages where many plugins may have something to say. An imperative name (`authorize`) uses the answer; a past participle (`callSettled`) ignores it. `undefined` means "no opinion". A refusal is a value; a thrown exception is a fault, and a fault never lets anything through.',
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
  ]);
}

/** tapable's classes in a reader's words; also what a test asks for. */
export const KINDS: Readonly<Record<string, string>> = {
  AsyncSeriesBailHook: 'asked one after the other, the first answer wins (`tap` or `tapPromise`)',
  AsyncSeriesWaterfallHook: 'each answer feeds the next (`tap` or `tapPromise`)',
  SyncWaterfallHook: 'each answer feeds the next, without waiting (`tap`)',
  SyncHook: 'told, without waiting (`tap`)',
  AsyncSeriesHook: 'run one after the other (`tap` or `tapPromise`)',
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
