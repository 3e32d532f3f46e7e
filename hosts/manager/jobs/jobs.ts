import { randomUUID } from 'node:crypto';
import { explainCause, type Log } from '@toolmgr/core';
import type { JobItem, JobOutcome, JobStatus, Jobs, PublishEvent } from '@toolmgr/plugins/kit/operations';
import { storageFault } from '@toolmgr/plugins/kit/workloads';
import { mistakeProblem } from '../http/mistake.ts';

/** One item of long work as it is shown. */
export interface ShownItem {
  readonly name: string;
  readonly status: 'waiting' | 'running' | 'done' | 'unchanged' | 'failed' | 'cancelled';
  /** What was done so far, oldest first. */
  readonly steps: readonly { readonly at: string; readonly text: string }[];
  readonly detail?: string;
}

/** Long work as it is shown. */
export interface ShownJob {
  readonly id: string;
  readonly title: string;
  readonly status: JobStatus;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly items: readonly ShownItem[];
}

/** Long work of this process. */
export interface JobTable extends Jobs {
  /** Newest first. */
  list(): readonly ShownJob[];
  get(id: string): ShownJob | undefined;
  /** Asks running items to end. `ended` when the work had ended before. */
  cancel(id: string): 'unknown' | 'ended' | 'cancelled';
  /** Cancels everything and waits until the items have ended. */
  stop(): Promise<void>;
  /** Resolves when all work has ended. */
  ended(): Promise<void>;
}

interface Job extends Omit<ShownJob, 'items' | 'status' | 'ended_at'> {
  status: JobStatus;
  ended_at?: string;
  readonly items: Item[];
  readonly controller: AbortController;
  ended: Promise<void>;
}

interface Item {
  readonly name: string;
  status: ShownItem['status'];
  readonly steps: { at: string; text: string }[];
  detail?: string;
}

const MAX_ENDED = 200; // the oldest are forgotten
const MAX_STEPS = 100; // of an item; the oldest are forgotten
const ITEMS_AT_ONCE = 8; // of one job

/** Creates the table. It is kept in memory: work ends with the process, so no record could continue it. */
export function createJobs(publish: PublishEvent, log: Log): JobTable {
  const jobs = new Map<string, Job>();
  const tell = (job: Job): void => publish({ type: 'operation', name: job.id, status: job.status });

  return {
    start(title, items) {
      const job = newJob(title, items);
      jobs.set(job.id, job);
      forgetOldest(jobs);
      tell(job);
      job.ended = runJob(job, items, tell, log);
      return job.id;
    },
    list: () => [...jobs.values()].reverse().map(shown),
    get(id) {
      const job = jobs.get(id);
      return job && shown(job);
    },
    cancel(id) {
      const job = jobs.get(id);
      if (job === undefined) return 'unknown';
      if (job.status !== 'running') return 'ended';
      job.controller.abort();
      return 'cancelled';
    },
    async ended() {
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
    },
    async stop() {
      for (const { controller } of jobs.values()) controller.abort();
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
    },
  };
}

function newJob(title: string, items: readonly JobItem[]): Job {
  return {
    id: randomUUID(),
    title,
    status: 'running',
    started_at: now(),
    items: items.map(({ name }) => ({ name, status: 'waiting', steps: [] })),
    controller: new AbortController(),
    ended: Promise.resolve(),
  };
}

async function runJob(job: Job, items: readonly JobItem[], tell: (job: Job) => void, log: Log): Promise<void> {
  const queue = items.map((item, at) => ({ item, shown: job.items[at] as Item }));
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await runItem(job, next.item, next.shown, tell, log);
    }
  };
  await Promise.all(Array.from({ length: Math.min(ITEMS_AT_ONCE, items.length) }, worker));
  job.status = endStatus(job);
  job.ended_at = now();
  tell(job);
}

function endStatus({ items }: Job): JobStatus {
  if (items.some(({ status }) => status === 'failed')) return 'failed';
  return items.some(({ status }) => status === 'cancelled') ? 'cancelled' : 'succeeded';
}

async function runItem(job: Job, item: JobItem, shownItem: Item, tell: (job: Job) => void, log: Log): Promise<void> {
  const { signal } = job.controller;
  if (signal.aborted) {
    shownItem.status = 'cancelled';
    return;
  }
  shownItem.status = 'running';
  const report = (text: string): void => {
    shownItem.steps.push({ at: now(), text });
    if (shownItem.steps.length > MAX_STEPS) shownItem.steps.shift();
    tell(job);
  };
  const outcome = await outcomeOf(item, report, signal, log);
  shownItem.status = outcome.status === 'failed' && signal.aborted ? 'cancelled' : outcome.status;
  if (outcome.detail !== undefined) shownItem.detail = outcome.detail;
  tell(job);
}

async function outcomeOf(
  item: JobItem,
  report: (step: string) => void,
  signal: AbortSignal,
  log: Log,
): Promise<JobOutcome> {
  try {
    return await item.run(report, signal);
  } catch (cause) {
    if (signal.aborted) return { status: 'failed', detail: 'it was cancelled' };
    const mistake = mistakeProblem(cause);
    if (mistake !== undefined) return { status: 'failed', detail: mistake.detail };
    log.error('an item of an operation failed', { item: item.name, cause: explainCause(cause) });
    return { status: 'failed', detail: storageFault(cause) ?? 'the manager failed; its log has the reason' };
  }
}

function forgetOldest(jobs: Map<string, Job>): void {
  const ended = [...jobs.values()].filter(({ status }) => status !== 'running');
  for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) jobs.delete(id);
}

function shown({ id, title, status, started_at, ended_at, items }: Job): ShownJob {
  return {
    id,
    title,
    status,
    started_at,
    ...(ended_at === undefined ? {} : { ended_at }),
    items: items.map((item) => ({ ...item, steps: [...item.steps] })),
  };
}

function now(): string {
  return new Date().toISOString();
}
