import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

/** Asks for an access token of the endpoint. It stays in memory and is sent to this host only. */
export function AccessToken({ use }: { readonly use: (token: string) => void }): JSX.Element {
  const given = useSignal('');
  const id = useId();
  return (
    <form
      class="note form"
      onSubmit={(event) => {
        event.preventDefault();
        use(given.value.trim());
      }}
    >
      <p>This endpoint asks its clients for an access token.</p>
      <div class="field">
        <label for={id}>Access token</label>
        <input
          id={id}
          type="password"
          autocomplete="off"
          value={given.value}
          onInput={(event) => {
            given.value = event.currentTarget.value;
          }}
        />
      </div>
      <footer class="buttons">
        <button type="submit" class="primary">
          Use it
        </button>
      </footer>
    </form>
  );
}
