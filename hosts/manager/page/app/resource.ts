import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { onChange } from './events.ts';
import { ApiProblem } from './problem.ts';

/** Data of the host on the page. Old data stays while it is read again. */
export interface Resource<Data> {
  readonly data: Signal<Data | undefined>;
  readonly problem: Signal<ApiProblem | undefined>;
  readonly reload: () => void;
}

/**
 * Reads data when a view opens, when `keys` differ, and after events of `eventTypes`.
 * Events that come in quick succession cause one read.
 */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  keys: readonly unknown[],
  eventTypes: readonly string[] = [],
): Resource<Data> {
  const data = useSignal<Data | undefined>(undefined);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const loader = useRef(load);
  loader.current = load;
  const running = useRef<AbortController>(undefined);

  const reload = useCallback(() => {
    running.current?.abort();
    const attempt = new AbortController();
    running.current = attempt;
    loader.current(attempt.signal).then(
      (loaded) => {
        if (attempt.signal.aborted) return;
        data.value = loaded;
        problem.value = undefined;
      },
      (error: unknown) => {
        if (attempt.signal.aborted) return;
        problem.value = error instanceof ApiProblem ? error : new ApiProblem(String(error), 0, '');
      },
    );
  }, []);

  useEffect(() => {
    data.value = undefined;
    reload();
    return () => running.current?.abort();
  }, keys);

  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = onChange((event) => {
      if (event.type !== 'missed' && !eventTypes.includes(event.type)) return;
      clearTimeout(waiting);
      waiting = setTimeout(reload, QUIET_MS);
    });
    return () => {
      clearTimeout(waiting);
      unsubscribe();
    };
  }, []);

  return { data, problem, reload };
}

const QUIET_MS = 80;
