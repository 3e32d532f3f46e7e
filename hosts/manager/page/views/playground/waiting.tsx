import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Progress } from '../../app/mcp-shapes.ts';
import { Name } from '../../widgets/name.tsx';

interface WaitingProps {
  /** The newest that the server said; nothing while it said nothing. */
  readonly progress: Progress | undefined;
  readonly onCancel: () => void;
}

/** A call that waits for its answer: how far it is, and since when it waits. */
export function Waiting({ progress, onCancel }: WaitingProps): JSX.Element {
  const seconds = useSignal(0);
  useEffect(() => {
    const begun = performance.now();
    const timer = setInterval(() => {
      seconds.value = Math.floor((performance.now() - begun) / 1_000);
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  const { progress: done, total, message } = progress ?? {};
  return (
    <section class="waiting" aria-label="Progress">
      <progress aria-label="Progress of the call" max={total} value={total === undefined ? undefined : done} />
      <p>
        {done !== undefined && `${done}${total === undefined ? '' : ` of ${total}`} `}
        {message !== undefined && <Name text={message} />} <span class="muted">{seconds.value} s</span>
      </p>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </section>
  );
}
