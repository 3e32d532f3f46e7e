import type { JSX } from 'preact';

/** A text that scrolls, reachable by keyboard. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="code-block" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}
