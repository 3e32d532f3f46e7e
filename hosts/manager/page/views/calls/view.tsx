import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ViewProps } from '../../app/view-props.ts';
import { Brief } from '../../widgets/brief.tsx';
import { FilterField } from '../../widgets/filter-field.tsx';
import { Name } from '../../widgets/name.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { CallDetail } from './detail.tsx';
import { durationText } from './duration-text.ts';
import { type Call, followCalls } from './follow-calls.ts';

/** Calls that stay on the page. */
const MAX_CALLS = 1_000;

/** The last calls and new ones as they come: who, which tool, how long, outcome. */
export function view({ offer }: ViewProps): JSX.Element {
  const calls = useSignal<readonly Call[]>([]);
  const isPaused = useSignal(false);
  const filter = useSignal('');
  const open = useSignal<Call | undefined>(undefined);

  useEffect(() => {
    const stop = new AbortController();
    let waiting: readonly Call[] = [];
    let frame = 0;
    // many calls at once are shown once per frame
    const show = (): void => {
      frame = 0;
      if (isPaused.value) return;
      calls.value = [...calls.value, ...waiting].slice(-MAX_CALLS);
      waiting = [];
    };
    const take = (next: readonly Call[]): void => {
      waiting = [...waiting, ...next].slice(-MAX_CALLS);
      if (frame === 0) frame = requestAnimationFrame(show);
    };
    void followCalls(offer.endpoint?.calls ?? '/api/v1beta/calls', take, stop.signal);
    const unsubscribe = isPaused.subscribe((paused) => {
      if (!paused && waiting.length > 0) show();
    });
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
      unsubscribe();
    };
  }, [offer]);

  const wanted = filter.value.trim().toLowerCase();
  const top = calls.value.filter(({ isInner }) => isInner !== true);
  const found = top.filter((call) => textsOf(call).some((text) => text.toLowerCase().includes(wanted)));
  return (
    <>
      <div class="title">
        <h1>Calls</h1>
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => {
            isPaused.value = !isPaused.value;
          }}
        >
          {isPaused.value ? 'Continue' : 'Pause'}
        </button>
      </div>
      <div class="tools">
        <FilterField filter={filter} />
        <span class="muted">
          {found.length} of {top.length}
        </span>
      </div>
      {top.length === 0 ? (
        <p class="muted">No call yet. Calls of connected clients and of the playground appear here.</p>
      ) : (
        <Table
          title="Calls, newest first"
          columns={{
            Time: 'narrow',
            Name: 'wide',
            Backend: '',
            'Client and caller': '',
            Duration: 'narrow',
            Outcome: 'medium',
          }}
          items={found.toReversed()}
          row={(call) => (
            <Row
              key={call.seq}
              call={call}
              open={() => {
                open.value = call;
              }}
            />
          )}
        />
      )}
      {open.value !== undefined && (
        <CallDetail
          call={open.value}
          inner={calls.value.filter(({ id, seq }) => id === open.value?.id && seq !== open.value.seq)}
          close={() => {
            open.value = undefined;
          }}
        />
      )}
    </>
  );
}

function Row({ call, open }: { readonly call: Call; readonly open: () => void }): JSX.Element {
  const { startedMs, name, method, backend, client = '-', caller, durationMs, outcome, detail } = call;
  return (
    <tr>
      <td>
        <time dateTime={new Date(startedMs).toISOString()}>{new Date(startedMs).toLocaleTimeString()}</time>
      </td>
      <th scope="row">
        <button type="button" class="link" onClick={open}>
          <Name text={name} />
        </button>
        {method !== 'tools/call' && <div class="muted">{method}</div>}
      </th>
      <td>
        <Name text={backend} />
      </td>
      <td>
        <Brief text={client} />
        <Brief text={caller} isSecond />
      </td>
      <td class="number">{durationText(durationMs)}</td>
      <td>
        <StatusMark status={outcome} />
        <Brief text={detail} isSecond />
      </td>
    </tr>
  );
}

function textsOf({ name, backend, client = '', caller, outcome, method }: Call): readonly string[] {
  return [name, backend, client, caller, outcome, method];
}
