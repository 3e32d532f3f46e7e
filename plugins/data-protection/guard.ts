import type { Call, Core, Refusal } from '@toolmgr/core';
import { dataFound } from '@toolmgr/plugins/kit/extension-points';
import type { DataProtectionConfig } from './config.ts';
import type { Scope } from './scopes.ts';
import { beginSearch, type Search, Unsearched } from './search.ts';

/** What a search made of something, or why that must not be sent. */
export type Searched<T> = { readonly value: T } | { readonly refusal: Refusal };

/** Searches by the rules of a scope, and reports what was found; never a value. */
export interface Guard {
  search<T>(call: Call, scope: Scope, run: (search: Search) => T): Searched<T>;
}

export function createGuard(
  { log, hook, now }: Pick<Core, 'log' | 'hook' | 'now'>,
  config: DataProtectionConfig,
): Guard {
  const reported = hook(dataFound);
  return {
    search(call, scope, run) {
      const { direction, isStrict } = scope;
      const what = direction === 'arguments' ? 'the arguments were not sent' : 'the result was withheld';
      const place = { call: call.id, ...nameOf(call), backend: call.target.backend, direction };
      const refuses = isStrict && config.longerText === 'block';
      const search = beginSearch(scope, config.maxTextBytes, refuses);
      let value: ReturnType<typeof run>;
      try {
        value = run(search);
      } catch (cause) {
        if (!(cause instanceof Unsearched)) throw cause;
        log.info('a text is too long to be searched for data', { ...place, action: 'block' });
        const why = `more than ${config.maxTextBytes} bytes of text cannot be searched for protected data`;
        return { refusal: { refused: true, status: 413, reason: `${what}: ${why}` } };
      }
      if (search.isIncomplete()) log.warn('a text is too long to be searched for data', { ...place, action: 'pass' });
      const found = search.found();
      for (const each of found) {
        log.info('data was found', { ...place, ...each });
        reported.call({ call, direction, ...each, atMs: now() });
      }
      const blocked = found.filter(({ action }) => action === 'block').map(({ detector }) => detector);
      if (blocked.length === 0) return { value };
      // not 403: another token or scope would change nothing
      const reason = `${what}: protected data was found (${blocked.join(', ')})`;
      return { refusal: { refused: true, status: 422, reason } };
    },
  };
}

/** Of tools and prompts: a URI may have what was found. */
function nameOf({ name, target: { kind } }: Call): { readonly name?: string } {
  return kind === 'tool' || kind === 'prompt' ? { name } : {};
}
