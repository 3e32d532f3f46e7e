import { useSignal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { followEvents, liveness } from './events.ts';
import { Jobs } from './jobs-panel.tsx';
import type { Offer } from './offer.ts';
import { sentenceOf } from './problem.ts';
import { linkTo, route } from './router.ts';
import { needsSignIn, signOut, token } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { chooseTheme, THEMES, theme } from './theme.ts';
import { Toasts } from './toasts-panel.tsx';
import type { ViewProps } from './view-props.ts';
import { viewOf } from './views.ts';

/** The whole page: the views, or the sign-in before them. */
export function Shell({ offer }: { readonly offer: Offer }): JSX.Element {
  const isSignedIn = offer.signIn === 'none' || (token.value !== '' && !needsSignIn.value);
  return isSignedIn ? <Views offer={offer} /> : <SignIn />;
}

/** Navigation, the open view, messages and long work. */
function Views({ offer }: { readonly offer: Offer }): JSX.Element {
  const names = offer.views;
  const { view, parts, query } = route.value;
  const open = names.includes(view) ? view : (names[0] ?? '');
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const place = [open, ...parts].join('/');

  useEffect(() => (offer.views.includes('workloads') ? followEvents('/api/v1beta/events') : undefined), [offer]);
  useEffect(() => {
    document.title = `${viewOf(open, offer)?.title ?? 'toolmgr'} · toolmgr`;
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [place]);

  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <p class="brand">toolmgr</p>
        <nav aria-label="Views">
          <ul>
            {names.map((name) => (
              <li key={name}>
                <a href={linkTo(name)} aria-current={name === open ? 'page' : undefined}>
                  {viewOf(name, offer)?.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="bar-end">
          <Live offer={offer} />
          <ThemeChoice />
          {offer.signIn === 'token' && (
            <button type="button" class="quiet" onClick={signOut}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <OpenView name={open} parts={parts} query={query} offer={offer} />
      </main>
      <Jobs />
      <Toasts />
    </div>
  );
}

/** Loaded views stay loaded. */
const loaded = new Map<string, ComponentType<ViewProps>>();

function OpenView({ name, ...props }: ViewProps & { readonly name: string }): JSX.Element {
  const ready = useSignal(0);
  const failure = useSignal('');
  useEffect(() => {
    failure.value = '';
    if (loaded.has(name)) return;
    viewOf(name, props.offer)
      ?.load()
      .then(
        ({ view }) => {
          loaded.set(name, view);
          ready.value += 1;
        },
        (error: unknown) => {
          failure.value = sentenceOf(error);
        },
      );
  }, [name]);
  ready.value; // a loaded view renders again
  const View = loaded.get(name);
  if (View !== undefined) return <View {...props} />;
  if (failure.value !== '') return <p role="alert">This view cannot be loaded: {failure.value}</p>;
  return <h1>{viewOf(name, props.offer)?.title ?? 'This host offers no view'}</h1>;
}

function Live({ offer }: { readonly offer: Offer }): JSX.Element | null {
  if (!offer.views.includes('workloads')) return null;
  const text = { connecting: 'Connecting', live: 'Live', lost: 'Connection lost, trying again' }[liveness.value];
  return (
    <p class={`live ${liveness.value}`} role="status">
      {text}
    </p>
  );
}

function ThemeChoice(): JSX.Element {
  return (
    <label class="theme">
      <span>Theme</span>
      <select
        value={theme.value}
        onChange={(event) => chooseTheme(THEMES.find((known) => known === event.currentTarget.value) ?? 'system')}
      >
        {THEMES.map((known) => (
          <option key={known} value={known}>
            {known}
          </option>
        ))}
      </select>
    </label>
  );
}
