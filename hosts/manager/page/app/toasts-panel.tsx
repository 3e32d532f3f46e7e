import type { JSX } from 'preact';
import { Name } from '../widgets/name.tsx';
import { dismiss, toasts } from './toasts.ts';

/** The messages at the edge of the page. A screen reader reads each one once. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="log" aria-label="Messages" aria-live="polite">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <p>
            <Name text={text} />
          </p>
          <button type="button" class="quiet" aria-label="Dismiss the message" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
