import type { JSX } from 'preact';
import { Dialog } from '../../widgets/dialog.tsx';
import { durationText } from './duration-text.ts';
import type { Call } from './follow-calls.ts';

interface CallDetailProps {
  readonly call: Call;
  /** Calls that this one made: steps of a composite tool, calls of a script. */
  readonly inner: readonly Call[];
  readonly close: () => void;
}

/** One call: its facts, and the calls that it made on one time line. */
export function CallDetail({ call, inner, close }: CallDetailProps): JSX.Element {
  const facts = [
    ['Outcome', call.detail === undefined ? call.outcome : `${call.outcome}: ${call.detail}`],
    ['Method', call.method],
    ['Backend', call.backend],
    ["Backend's name", call.original ?? call.name],
    ['Client', call.client ?? '-'],
    ['Caller', call.caller],
    ['Started', new Date(call.startedMs).toLocaleString()],
    ['Duration', durationText(call.durationMs)],
    ['Result', call.resultBytes === undefined ? '-' : `${call.resultBytes} bytes`],
    ['Correlation id', call.id],
  ];
  return (
    <Dialog title={call.name} onClose={close}>
      <dl class="facts">
        {facts.flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
      </dl>
      {inner.length > 0 && <Waterfall call={call} inner={inner} />}
    </Dialog>
  );
}

const WIDTH = 600;
const LINE = 24;
const LABEL = 200;

function Waterfall({ call, inner }: Pick<CallDetailProps, 'call' | 'inner'>): JSX.Element {
  const rows = [call, ...[...inner].sort((a, b) => a.startedMs - b.startedMs)];
  const span = Math.max(call.durationMs, 1);
  const at = (ms: number): number => LABEL + Math.min(Math.max(ms / span, 0), 1) * (WIDTH - LABEL);
  return (
    <>
      <h3>Calls that it made</h3>
      <svg
        class="waterfall"
        viewBox={`0 0 ${WIDTH} ${rows.length * LINE}`}
        role="img"
        aria-label="Time line of the calls"
      >
        {rows.map(({ seq, name, startedMs, durationMs, outcome }, row) => {
          const from = at(startedMs - call.startedMs);
          const to = at(startedMs - call.startedMs + durationMs);
          return (
            <g key={seq}>
              <text x={0} y={row * LINE + 16}>
                {name.length > 26 ? `${name.slice(0, 25)}…` : name}
              </text>
              <rect
                class={outcome === 'ok' ? 'good' : 'bad'}
                x={from}
                y={row * LINE + 5}
                width={Math.max(to - from, 2)}
                height={LINE - 10}
              >
                <title>{`${name}: ${durationText(durationMs)}, ${outcome}`}</title>
              </rect>
            </g>
          );
        })}
      </svg>
      <ol>
        {rows.slice(1).map(({ seq, name, backend, durationMs, outcome }) => (
          <li key={seq}>
            {name} ({backend}): {durationText(durationMs)}, {outcome}
          </li>
        ))}
      </ol>
    </>
  );
}
