import { signal } from '@preact/signals';

/** A short message for the person. */
export interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed' | 'note';
  readonly text: string;
}

export const toasts = signal<readonly Toast[]>([]);

let last = 0;

/** Shows a message. Messages about failures stay until they are dismissed. */
export function notify(kind: Toast['kind'], text: string): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, kind, text: text.slice(0, MAX_TEXT) }].slice(-MAX_TOASTS);
  if (kind !== 'failed') setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Removes a message. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

const MAX_TOASTS = 5;
const MAX_TEXT = 2_000; // characters
const SHOWN_MS = 5_000;
