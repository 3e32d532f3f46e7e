import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { signIn, wasRefused } from './session.ts';

/** Asks for the token of the host. */
export function SignIn(): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    signIn(field.current?.value ?? '');
  };
  return (
    <main class="sign-in">
      <h1>Sign in to toolmgr</h1>
      {wasRefused.value && <p role="alert">The link was used already, or the sign-in has expired.</p>}
      <p>
        Run <code>toolmgr serve --open</code>: it opens this page with a new link. Or enter the token of the file that{' '}
        <code>toolmgr serve</code> names. This tab keeps it until it is closed.
      </p>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input id="token" ref={field} type="password" required autocomplete="off" spellcheck={false} />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}
