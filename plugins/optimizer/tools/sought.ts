import type { Call, CallResult, Core, ToolSought } from '@toolmgr/core';

/** An answer of one of the two tools, with what is told of it. */
export interface Answered {
  readonly result: CallResult;
  readonly found?: number;
  readonly savingsPercent?: number;
  readonly isNotFound?: true;
}

/** Tells whoever listens what came of each call. With no listener nothing is worked out. */
export function telling(
  { hooks: { toolSought }, now }: Pick<Core, 'hooks' | 'now'>,
  way: ToolSought['way'],
  answer: (call: Call) => Promise<Answered>,
): (call: Call) => Promise<CallResult> {
  return async (call) => {
    if (!toolSought.tapped()) return (await answer(call)).result;
    const startedMs = now();
    let answered: Answered | undefined;
    try {
      answered = await answer(call);
      return answered.result;
    } finally {
      toolSought.call({
        way,
        call,
        outcome: outcomeOf(answered),
        durationMs: now() - startedMs,
        ...figuresOf(answered),
      });
    }
  };
}

function outcomeOf(answered: Answered | undefined): ToolSought['outcome'] {
  if (answered?.isNotFound) return 'notFound';
  return answered === undefined || answered.result.isError ? 'error' : 'ok';
}

function figuresOf({ found, savingsPercent }: Partial<Answered> = {}): Pick<ToolSought, 'found' | 'savingsPercent'> {
  return found === undefined || savingsPercent === undefined ? {} : { found, savingsPercent };
}
