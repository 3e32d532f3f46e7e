import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { linesOf } from '../app/lines.ts';
import { ApiProblem } from '../app/problem.ts';
import { sendRequest } from '../app/request.ts';
import { FilterField } from './filter-field.tsx';
import { ProblemNote } from './problem-note.tsx';

/** A log that is followed. Only the newest lines stay. */
export function LogViewer({ address, label }: { readonly address: string; readonly label: string }): JSX.Element {
  const lines = useSignal<readonly string[]>([]);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const state = useSignal<'reading' | 'following' | 'ended'>('reading');
  const filter = useSignal('');
  const follows = useSignal(true);
  const box = useRef<HTMLPreElement>(null);

  useEffect(() => {
    const stop = new AbortController();
    lines.value = [];
    problem.value = undefined;
    state.value = 'reading';
    read(address, stop.signal, (more) => {
      state.value = 'following';
      lines.value = [...lines.value, ...more].slice(-MAX_LINES);
    })
      .catch((error: unknown) => {
        if (!stop.signal.aborted && error instanceof ApiProblem) problem.value = error;
      })
      .finally(() => {
        if (!stop.signal.aborted) state.value = 'ended';
      });
    return () => stop.abort();
  }, [address]);

  useEffect(() => {
    if (follows.value && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });

  const wanted = filter.value.toLowerCase();
  const shown = wanted === '' ? lines.value : lines.value.filter((line) => line.toLowerCase().includes(wanted));
  const text = shown.join('\n');
  return (
    <div class="log">
      <div class="tools">
        <FilterField filter={filter} />
        <label class="check">
          <input
            type="checkbox"
            checked={follows.value}
            onChange={(event) => {
              follows.value = event.currentTarget.checked;
            }}
          />
          Follow
        </label>
        <span class="muted">
          {shown.length} lines{state.value === 'ended' ? ', the log ended' : ''}
        </span>
      </div>
      <ProblemNote problem={problem.value} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre ref={box} tabIndex={0} role="log" aria-live="off" aria-label={label}>
        {text === '' && state.value !== 'reading' ? 'No lines yet.' : text}
      </pre>
    </div>
  );
}

/** Hands lines over once for each frame, however many arrive. */
async function read(address: string, signal: AbortSignal, take: (lines: readonly string[]) => void): Promise<void> {
  const answer = await sendRequest(address, { signal, headers: { accept: 'text/plain' } });
  if (answer.body === null) return;
  let waiting: string[] = [];
  const flush = (): void => {
    const more = waiting;
    waiting = [];
    if (!signal.aborted) take(more);
  };
  take([]);
  for await (const line of linesOf(answer.body)) {
    if (waiting.length === 0) requestAnimationFrame(flush);
    waiting.push(line);
    if (waiting.length > MAX_LINES) waiting.shift();
  }
  flush();
}

const MAX_LINES = 5_000;
