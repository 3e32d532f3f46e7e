import type { JSX } from 'preact';
import { cancelJob, jobs } from './jobs.ts';
import type { OperationItem } from './shapes.ts';

/** Long work that this page started, with the step of each item. */
export function Jobs(): JSX.Element | null {
  if (jobs.value.length === 0) return null;
  return (
    <section class="jobs" aria-label="Work in progress">
      {jobs.value.map((job) => (
        <article key={job.id} class={`job ${job.status}`}>
          <header>
            <h2>{job.title}</h2>
            {job.status === 'running' ? (
              <button type="button" class="small" onClick={() => void cancelJob(job.id)}>
                Cancel<span class="hidden"> {job.title}</span>
              </button>
            ) : (
              <span>{job.status}</span>
            )}
          </header>
          <ul role="status">
            {job.items?.map((item) => (
              <li key={item.name}>
                <strong>{item.name}</strong> {stepOf(item)}
              </li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}

function stepOf({ status, steps, detail }: OperationItem): string {
  return status === 'running' || status === 'waiting' ? (steps?.at(-1)?.text ?? status) : (detail ?? status);
}
