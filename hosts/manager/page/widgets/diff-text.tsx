import type { JSX } from 'preact';

/** A unified diff; what is added and removed is marked by its sign and its colour. */
export function DiffText({ diff, label }: { readonly diff: string; readonly label: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="code-block diff" tabIndex={0} aria-label={label}>
      <pre>
        {diff.split('\n').map((line) => (
          <div class={styleOf(line)}>{line === '' ? ' ' : line}</div>
        ))}
      </pre>
    </section>
  );
}

function styleOf(line: string): string {
  if (line.startsWith('+') && !line.startsWith('+++')) return 'added';
  return line.startsWith('-') && !line.startsWith('---') ? 'removed' : '';
}
