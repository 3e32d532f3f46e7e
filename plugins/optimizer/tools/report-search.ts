import type { Call, CallResult, Core } from '@toolmgr/core';
import { type ToolSearched, toolSearched } from '@toolmgr/plugins/kit/extension-points';

/** A result of a virtual tool, with figures for the hook `toolSearched`. */
export interface MeasuredResult {
  readonly result: CallResult;
  readonly found?: number;
  readonly savingsPercent?: number;
  readonly isNotFound?: true;
}

/** Calls the hook `toolSearched` after each call; does nothing when no plugin taps it. */
export function reportSearches(
  { hook, now }: Pick<Core, 'hook' | 'now'>,
  way: ToolSearched['way'],
  answer: (call: Call) => Promise<MeasuredResult>,
): (call: Call) => Promise<CallResult> {
  const searched = hook(toolSearched);
  return async (call) => {
    if (!searched.tapped()) return (await answer(call)).result;
    const startedMs = now();
    let answered: MeasuredResult | undefined;
    try {
      answered = await answer(call);
      return answered.result;
    } finally {
      searched.call({
        way,
        call,
        outcome: outcomeOf(answered),
        durationMs: now() - startedMs,
        ...figuresOf(answered),
      });
    }
  };
}

function outcomeOf(answered: MeasuredResult | undefined): ToolSearched['outcome'] {
  if (answered?.isNotFound) return 'notFound';
  return answered === undefined || answered.result.isError ? 'error' : 'ok';
}

function figuresOf({
  found,
  savingsPercent,
}: Partial<MeasuredResult> = {}): Pick<ToolSearched, 'found' | 'savingsPercent'> {
  return found === undefined || savingsPercent === undefined ? {} : { found, savingsPercent };
}
