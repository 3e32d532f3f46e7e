import type { Call, CallResult, Core, ToolSearched } from '@toolmgr/core';

/** An answer of one of the two tools, with what is told of it. */
export interface Answered {
  readonly result: CallResult;
  readonly found?: number;
  readonly savingsPercent?: number;
  readonly isNotFound?: true;
}

/** Tells whoever listens what came of each call. With no listener nothing is worked out. */
export function telling(
  { hooks: { toolSearched }, now }: Pick<Core, 'hooks' | 'now'>,
  way: ToolSearched['way'],
  answer: (call: Call) => Promise<Answered>,
): (call: Call) => Promise<CallResult> {
  return async (call) => {
    if (!toolSearched.tapped()) return (await answer(call)).result;
    const startedMs = now();
    let answered: Answered | undefined;
    try {
      answered = await answer(call);
      return answered.result;
    } finally {
      toolSearched.call({
        way,
        call,
        outcome: outcomeOf(answered),
        durationMs: now() - startedMs,
        ...figuresOf(answered),
      });
    }
  };
}

function outcomeOf(answered: Answered | undefined): ToolSearched['outcome'] {
  if (answered?.isNotFound) return 'notFound';
  return answered === undefined || answered.result.isError ? 'error' : 'ok';
}

function figuresOf({ found, savingsPercent }: Partial<Answered> = {}): Pick<ToolSearched, 'found' | 'savingsPercent'> {
  return found === undefined || savingsPercent === undefined ? {} : { found, savingsPercent };
}
