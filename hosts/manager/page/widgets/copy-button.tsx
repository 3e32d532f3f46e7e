import type { JSX } from 'preact';
import { notify } from '../app/toasts.ts';

/** Copies a text. `what` says what it is, for the message and for screen readers. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notify('done', `${what} is copied`);
    } catch {
      notify('failed', 'The browser does not allow copying here. Select the text instead.');
    }
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      Copy<span class="hidden"> {what}</span>
    </button>
  );
}
