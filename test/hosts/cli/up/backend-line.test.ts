import { expect } from 'vitest';
import { backendLine } from '../../../../hosts/cli/up/backend-line.ts';
import { proves } from '../../../support/proves.ts';

proves(
  'choice.first-start.told',
  'the line of a backend shows why its program failed, also while it is restarted',
  () => {
    const state = { era: undefined, cause: undefined, sinceMs: 0, hello: undefined };
    const startingSinceMs = Date.now();
    const cause = { category: 'closed', message: 'backend "ghost" ended with exit code 1' };
    expect(backendLine({ ...state, status: 'unknown', startingSinceMs }, 0)).toMatch(
      /^still starting, 0 s so far; its/,
    );
    expect(backendLine({ ...state, status: 'unknown', startingSinceMs }, 2)).toBe(
      'still starting, 0 s so far; until it is ready, those of last time: 2 tools',
    );
    expect(backendLine({ ...state, status: 'unavailable', cause, startingSinceMs }, 0)).toBe(
      'unavailable: ended with exit code 1',
    );
    expect(backendLine({ ...state, status: 'unavailable', cause }, 0)).toBe('unavailable: ended with exit code 1');
    expect(backendLine({ ...state, status: 'unavailable', cause }, 0, 'not found')).toBe('unavailable: not found');
    expect(backendLine({ ...state, status: 'ready' }, 1)).toBe('ready, 1 tool');
  },
);
