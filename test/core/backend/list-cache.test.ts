import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BackendListing } from '../../../core/backend/backend-manager.ts';
import { ListCache } from '../../../core/backend/lists/list-cache.ts';
import { limitsSchema } from '../../../core/limits.ts';
import { proves } from '../../support/proves.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the lists of a backend that is away', () => {
  proves('choice.backend.away-list-kept', 'are served for 60 seconds', () => {
    const lists = listCache(() => {});
    lists.store('', LISTING);
    lists.startGrace();
    vi.advanceTimersByTime(59_999);
    expect(lists.of('')).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(lists.of('')).toBeUndefined();
  });

  it('have no timer after the removal of the backend', () => {
    const changed = vi.fn();
    const lists = listCache(changed);
    lists.store('', LISTING);
    lists.stop();
    lists.startGrace();
    expect(vi.getTimerCount()).toBe(0);
    expect(changed).toHaveBeenCalledOnce();
  });
});

function listCache(changed: () => void): ListCache {
  const limits = limitsSchema.parse({});
  return new ListCache({
    limits,
    inherited: undefined,
    now: () => 0,
    changed,
    availability: { status: 'unavailable' },
  });
}

const LISTING: BackendListing = {
  backend: 'far',
  era: '2026-07-28',
  hello: { info: {}, protocolVersion: '2026-07-28', capabilities: {}, instructions: undefined },
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
};
