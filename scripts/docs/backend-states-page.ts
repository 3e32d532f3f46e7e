import {
  type AvailabilityEffect,
  type AvailabilityEvent,
  type AvailabilityState,
  newBackend,
  type ReadLists,
  step,
} from '../../core/backend/availability-states.ts';
import { ConnectionFailure, categoryOf, type FailureCategory } from '../../core/backend/failure.ts';
import { code, page, table } from './markdown.ts';

/** One change that the reducer makes, as the page names it. */
export interface DrawnStep {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly effects: readonly AvailabilityEffect['do'][];
}

/** docs/reference/backend-states.md */
export function backendStatesPage(): string {
  const steps = exploredSteps().filter(({ from, to, effects }) => from !== to || effects.length > 0);
  return page('States of a backend', '`core/backend/availability-states.ts`, by trying every event in every state', [
    'What the gateway does about one backend is [one function](../decisions/076-a-backend-is-a-state-machine.md): state and event give the next state, and what has to be done. A state has the status that clients and operators see (`ready`, `unavailable`, `unauthenticated`, `unknown`), and what is done about the connection: nothing, an attempt runs (connecting), or a timer starts the next one (pausing).',
    ['```mermaid', 'stateDiagram-v2', ...drawing(steps), '```'].join('\n'),
    'After `removed`, which may come in every state, nothing happens any more.',
    '## Events',
    table(
      ['event', 'meaning'],
      Object.entries(MEANINGS).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## Steps',
    'What is done is run in this order, by `core/backend/controller.ts`. What is in brackets is not always done: calls are stopped unless a monitor had stopped them before, and a cause is announced when its category is new.',
    table(['state', 'event', 'next state', 'what is done'], rows(steps)),
  ]);
}

function labelOf({ status, link }: AvailabilityState): string {
  if (link.is === 'removed' || link.is === 'idle') return link.is === 'removed' ? link.is : status;
  return `${status}, ${link.is}`;
}

/** The name of an event on the page. */
function nameOf(event: AvailabilityEvent): string | undefined {
  if (event.is === 'failed') return categoryOf(event.cause) === 'unauthenticated' ? 'refused' : 'failed';
  if (event.is === 'lost' && !event.isOwn) return event.cause.category === 'session' ? 'session lost' : undefined;
  if (event.is === 'health') return event.health.status === 'unhealthy' ? 'unhealthy' : 'healthy';
  return event.is in MEANINGS ? event.is : undefined;
}

/** Every step from every state that can be reached, each once for each list of effects. */
export function exploredSteps(): readonly DrawnStep[] {
  const found = new Map<string, DrawnStep>();
  const known = new Set<string>();
  const open = [newBackend(0)];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const event of EVENTS) {
      for (const ageMs of AGES_MS) {
        const { next, drawn } = drawnStep(state, event, state.readyAtMs + ageMs);
        if (drawn !== undefined) found.set(JSON.stringify(drawn), drawn);
        const key = keyOf(next);
        if (known.has(key)) continue;
        known.add(key);
        open.push(next);
      }
    }
  }
  return [...found.values()];
}

/** One step; an attempt whose outcome is known ends in the same one. `drawn`: `undefined` for events that only note a fact. */
export function drawnStep(
  state: AvailabilityState,
  event: AvailabilityEvent,
  nowMs: number,
): { readonly next: AvailabilityState; readonly drawn: DrawnStep | undefined } {
  const moment = { nowMs, chance: 0 };
  const [changed, first] = step(state, event, moment);
  const [next, last] = step(changed, { is: 'ended' }, moment);
  const effects = [...first, ...last].map((effect) => effect.do);
  const name = nameOf(event);
  if (name === undefined) return { next, drawn: undefined };
  return { next, drawn: { from: labelOf(state), event: name, to: labelOf(next), effects } };
}

/** What the next steps of a state depend on, apart from times. */
function keyOf(state: AvailabilityState): string {
  const { cause, isExcluded, failures, shortConnections } = state;
  const few = [Math.min(failures, 2), Math.min(shortConnections, 2)];
  return JSON.stringify([labelOf(state), categoryOf(cause), isExcluded, few]);
}

const MEANINGS: Readonly<Record<string, string>> = {
  wanted: 'at its start, after a pause, or for a probe',
  renewed: 'a new session is wanted: a probe failed, or the backend contradicts its era',
  suspected: 'a failed request suggests that it is down; ignored for a second after a success',
  connected: 'the attempt succeeded: the session is open, and its lists are read',
  failed: 'the attempt failed',
  refused: 'the attempt failed, because credentials were refused',
  lost: "the gateway's own session ended; more than one that lasted less than ten seconds are a crash loop",
  'session lost': 'the backend does not know the session of a client any more',
  unhealthy: 'a monitor excludes the backend: it gets no calls',
  healthy: 'a monitor admits it again',
  removed: 'it is not configured any more, or the gateway stops',
};

const AGES_MS = [0, 5_000, 60_000];

const failure = (category: FailureCategory) => new ConnectionFailure('drawn', category, 'is gone');
const read = { connection: { era: '2026-07-28', hello: {} }, listing: {} } as unknown as ReadLists;
const health = (status: 'healthy' | 'unhealthy'): AvailabilityEvent => ({
  is: 'health',
  health: { status, consecutiveFailures: 0, checkedMs: 0, errorCategory: undefined, sinceMs: 0 },
});

/** In the order of the rows. */
const EVENTS: readonly AvailabilityEvent[] = [
  { is: 'wanted' },
  { is: 'renewed' },
  { is: 'suspected' },
  { is: 'connected', read },
  { is: 'failed', cause: failure('refused') },
  { is: 'failed', cause: failure('absent') },
  { is: 'failed', cause: failure('unauthenticated') },
  { is: 'lost', cause: failure('closed'), isOwn: true },
  { is: 'lost', cause: failure('session'), isOwn: false },
  health('unhealthy'),
  health('healthy'),
  { is: 'removed' },
];

const ORDER = ['unknown', 'ready', 'unavailable', 'unauthenticated'].flatMap((status) =>
  ['', ', connecting', ', pausing'].map((link) => `${status}${link}`),
);

/** Lines of a Mermaid state diagram. */
function drawing(steps: readonly DrawnStep[]): readonly string[] {
  const seen = new Map<string, Set<string>>();
  for (const { from, event, to } of steps) {
    if (from === to || to === 'removed') continue;
    const arrow = `${idOf(from)} --> ${idOf(to)}`;
    seen.set(arrow, (seen.get(arrow) ?? new Set()).add(event));
  }
  const states = ORDER.filter((name) => steps.some(({ from, to }) => from === name || to === name));
  return [
    ...states.map((name) => `  state "${name}" as ${idOf(name)}`),
    '  [*] --> unknown',
    ...[...seen].map(([arrow, events]) => `  ${arrow} : ${[...events].join(' / ')}`).sort(),
  ];
}

function idOf(state: string): string {
  return state.replace(', ', '_');
}

/** One row for each state, event and next state: what is always done, and what is done sometimes in brackets. */
function rows(steps: readonly DrawnStep[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(steps, ({ from, event, to }) => JSON.stringify([from, event, to]));
  const names = EVENTS.map(nameOf);
  const at = ({ from, event }: DrawnStep) => ORDER.indexOf(from) * 100 + names.indexOf(event);
  return [...groups.values()]
    .map((group) => group.sort((one, other) => other.effects.length - one.effects.length))
    .sort(([one], [other]) => at(one as DrawnStep) - at(other as DrawnStep))
    .map((group) => {
      const [{ from, event, to, effects }] = group as [DrawnStep];
      const all = new Set([...effects, ...group.flatMap((one) => one.effects)]);
      const always = (name: AvailabilityEffect['do']) => group.every((one) => one.effects.includes(name));
      return [from, code(event), to, [...all].map((name) => (always(name) ? name : `(${name})`)).join(', ')];
    });
}
