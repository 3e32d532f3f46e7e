import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** A text that did not change for a moment, so that typing causes few requests. */
export function useSettled(text: string): string {
  const settled = useSignal(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = text;
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled.value;
}

const SETTLE_MS = 200;
