import type { JSX } from 'preact';
import type { Offer } from '../../app/offer.ts';
import { linkTo } from '../../app/router.ts';

const STEPS = [
  ['browse', 'Find a server', 'Search the registry, and read what a server does and what it may reach.'],
  [
    'browse',
    'Run it',
    'Fill in its form. Secrets are kept encrypted; where Docker or Podman answers, the server runs in a container.',
  ],
  ['playground', 'Try it', 'Call its tools here, before a model does.'],
  ['clients', 'Connect your editor', 'One click writes its address into the configuration of your editor.'],
] as const;

/** What a person does first, while there is no workload. */
export function FirstSteps({ offer }: { readonly offer: Offer }): JSX.Element {
  const steps = STEPS.filter(([view]) => offer.views.includes(view));
  return (
    <section class="first" aria-label="First steps">
      <p class="lead">Nothing runs yet. {steps.length > 0 ? 'Four steps to a server in your editor:' : ''}</p>
      <ol>
        {steps.map(([view, title, text]) => (
          <li key={title}>
            <a href={linkTo(view)}>{title}</a>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
