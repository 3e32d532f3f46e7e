import type { JSX } from 'preact';
import { openPlace } from '../app/router.ts';
import type { Target } from '../app/targets.ts';

interface TargetChoiceProps {
  readonly view: string;
  readonly targets: readonly Target[];
  readonly chosen: Target | undefined;
}

/** Chooses the endpoint that a view is about; nothing when there is only one. */
export function TargetChoice({ view, targets, chosen }: TargetChoiceProps): JSX.Element | null {
  if (targets.length < 2) return null;
  return (
    <label class="check">
      Endpoint{' '}
      <select value={chosen?.id} onChange={(event) => openPlace(view, [], { at: event.currentTarget.value })}>
        {targets.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
