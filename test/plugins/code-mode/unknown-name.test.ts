import type { ToolEntry } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { scopeOf } from '../../../plugins/code-mode/execute-script/scope.ts';
import { createUnknownNames } from '../../../plugins/code-mode/execute-script/unknown-name.ts';
import { toolEntry } from '../../support/tool-entries.ts';

/** Tools of the backend `far`, listed under a prefix. */
const tools = (...names: string[]): ToolEntry[] =>
  names.map((name) => ({ ...toolEntry({ name: `far_${name}`, backend: 'far' }), original: name }));

describe('the error for an unknown name in a script', () => {
  it('suggests tools that have no group: above the maximum, or of the gateway itself', () => {
    const many = tools(...Array.from({ length: 2_100 }, (_, n) => `thing_${String(n).padStart(6, '0')}`));
    const flow: ToolEntry = { ...toolEntry({ name: 'pack', backend: 'composite/engine' }), run: async () => never() };
    const { tool } = createUnknownNames(scopeOf([...many, flow]));
    expect(tool('far.thing_002050')).toContain('or callTool("far_thing_002050")?');
    expect(tool('far.pack')).toBe('unknown tool "pack" of backend "far", did you mean callTool("pack")?');
  });

  it('cuts a long name, and searches for no similar one', () => {
    const { tool, afterError } = createUnknownNames(scopeOf(tools('echo')));
    expect(tool(`far.${'x'.repeat(1_000)}`)).toBe(`unknown tool "${'x'.repeat(127)}…" of backend "far"`);
    expect(tool('y'.repeat(1_000))).toBe(`unknown tool "${'y'.repeat(127)}…"`);
    expect(afterError(`ReferenceError: '${'z'.repeat(1_000)}' is not defined`)).toBe('');
  });

  it('adds nothing to other errors', () => {
    const { afterError } = createUnknownNames(scopeOf(tools('echo')));
    expect(afterError("ReferenceError: 'faar' is not defined (line 1)")).toBe(', did you mean far?');
    for (const message of ['TypeError: not a function', "Error: 'faar' is not defined", 'ReferenceError: faar']) {
      expect(afterError(message)).toBe('');
    }
  });
});

function never(): never {
  throw new Error('not called');
}
