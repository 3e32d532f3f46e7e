import type { JSX } from 'preact';

const TONES: Readonly<Record<string, string>> = {
  running: 'good',
  ready: 'good',
  ok: 'good',
  installed: 'good',
  'up-to-date': 'good',
  active: 'good',
  starting: 'busy',
  stopping: 'busy',
  removing: 'busy',
  auth_retrying: 'busy',
  pending: 'busy',
  'upgrade-available': 'busy',
  error: 'bad',
  toolError: 'bad',
  refused: 'bad',
  fault: 'bad',
  cancelled: 'bad',
  abandoned: 'bad',
  unavailable: 'bad',
  unhealthy: 'bad',
  unauthenticated: 'bad',
  policy_stopped: 'bad',
  failed: 'bad',
};

/** A state as a word with a colour; the word alone says it. */
export function StatusMark({ status }: { readonly status: string }): JSX.Element {
  return (
    <span class={`status ${TONES[status] ?? 'idle'}`}>
      {status.replace(/_|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()}
    </span>
  );
}
