import type { CallName } from '../app/call-table.ts';
import { type CallParts, call } from '../app/calls.ts';
import { sentenceOf } from '../app/problem.ts';
import { notify } from '../app/toasts.ts';

/** Calls an operation that a person started with a button, and says how it ended. `true` when it succeeded. */
export async function act(done: string, name: CallName, parts: CallParts): Promise<boolean> {
  try {
    await call(name, parts);
    notify('done', done);
    return true;
  } catch (error) {
    notify('failed', sentenceOf(error));
    return false;
  }
}
