import { inspect } from 'node:util';
import type { Secret } from '@toolmgr/core';

/** Wraps a text so that no log, error or JSON shows it. */
export function secretOf(text: string): Secret {
  const hidden = (): string => '[secret]';
  return Object.freeze({ reveal: () => text, toString: hidden, toJSON: hidden, [inspect.custom]: hidden });
}
