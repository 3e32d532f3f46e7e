import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { linkTo } from '../../app/router.ts';
import { needsSignIn } from '../../app/session.ts';
import { Brief } from '../../widgets/brief.tsx';
import { Name } from '../../widgets/name.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { durationText } from '../calls/duration-text.ts';
import { forgetCalls, type PastCall, pastCalls, withoutSecrets } from './past-calls.ts';

/** The calls that were tried at an endpoint. A link opens the form of a call with its values and its answer. */
export function History({ endpoint }: { readonly endpoint: string }): JSX.Element | null {
  const calls = pastCalls.value.filter((call) => call.endpoint === endpoint);
  if (calls.length === 0) return null;
  return (
    <section class="history" aria-label="History">
      <div class="tools">
        <h2>History</h2>
        <span class="muted">until this page is closed or loaded again</span>
        <button type="button" class="small" onClick={() => forgetCalls(endpoint)}>
          Clear
        </button>
      </div>
      <Table
        title="Calls that were tried, newest first"
        columns={{ Time: 'narrow', Name: 'wide', Values: '', Duration: 'narrow', Outcome: 'narrow' }}
        items={calls}
        row={(call) => <Row key={call.id} call={call} />}
      />
    </section>
  );
}

function Row({ call }: { readonly call: PastCall }): JSX.Element {
  const { id, endpoint, kind, key, values, secrets, outcome, ms } = call;
  const time = new Date(id);
  return (
    <tr>
      <td>
        <time dateTime={time.toISOString()}>{time.toLocaleTimeString()}</time>
      </td>
      <th scope="row">
        <a href={linkTo('playground', [], { at: endpoint, kind, name: key, past: String(id) })}>
          <Name text={key} />
        </a>
      </th>
      <td>
        <Brief text={JSON.stringify(withoutSecrets(values, secrets))} isCode />
      </td>
      <td class="number">{durationText(ms)}</td>
      <td>
        <StatusMark status={outcome} />
      </td>
    </tr>
  );
}

// who signs in next sees none of them
effect(() => {
  if (needsSignIn.value) forgetCalls();
});
