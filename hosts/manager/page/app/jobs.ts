import { signal } from '@preact/signals';
import type { CallName } from './call-table.ts';
import { type CallParts, call, started } from './calls.ts';
import { onChange } from './events.ts';
import { sentenceOf } from './problem.ts';
import type { Operation } from './shapes.ts';
import { notify } from './toasts.ts';

/** Long work that this page started, newest first. */
export const jobs = signal<readonly Operation[]>([]);

/**
 * Starts long work and follows it. The promise ends when the work ended; `succeeded` is false when an item failed.
 * @throws ApiProblem when the host refused to start it
 */
export async function runJob(
  title: string,
  name: CallName,
  parts: CallParts,
): Promise<{ readonly succeeded: boolean; readonly detail: string; readonly answer: unknown }> {
  const { answer, operation } = await started(name, parts);
  if (operation === undefined) return { succeeded: true, detail: '', answer };
  const ended = await followJob(operation, title);
  const failed = ended.items?.filter((item) => item.status === 'failed') ?? [];
  const detail = failed.map((item) => `${item.name}: ${item.detail ?? 'failed'}`).join('\n');
  return { succeeded: ended.status === 'succeeded', detail, answer };
}

/** Runs long work that a person started with a button, and reports how it ended. */
export async function runAndReport(title: string, name: CallName, parts: CallParts): Promise<boolean> {
  try {
    const { succeeded, detail } = await runJob(title, name, parts);
    notify(
      succeeded ? 'done' : 'failed',
      succeeded ? `${title}: done` : `${title}: ${detail || 'it did not end well'}`,
    );
    return succeeded;
  } catch (error) {
    notify('failed', `${title}: ${sentenceOf(error)}`);
    return false;
  }
}

/** Cancels long work. */
export async function cancelJob(id: string): Promise<void> {
  try {
    await call('cancelOperation', { path: { id } });
  } catch (error) {
    notify('failed', sentenceOf(error));
  }
}

async function followJob(id: string, title: string): Promise<Operation> {
  let wake = (): void => undefined;
  const unsubscribe = onChange((event) => {
    if (event.type === 'operation' && event.name === id) wake();
  });
  try {
    for (;;) {
      const current = { ...(await call('getOperation', { path: { id } })), id, title };
      jobs.value = [current, ...jobs.value.filter((job) => job.id !== id)].slice(0, MAX_JOBS);
      if (current.status !== 'running') return current;
      await new Promise<void>((done) => {
        wake = done;
        setTimeout(done, POLL_MS);
      });
    }
  } finally {
    unsubscribe();
    setTimeout(() => {
      jobs.value = jobs.value.filter((job) => job.id !== id);
    }, SHOWN_AFTER_MS);
  }
}

const MAX_JOBS = 20;
const POLL_MS = 700; // steps of an item are no events
const SHOWN_AFTER_MS = 4_000;
