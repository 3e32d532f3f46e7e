import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { useResource } from '../../app/resource.ts';
import type { HeldDefinition, PinChange } from '../../app/shapes.ts';
import { act } from '../../widgets/act.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { DiffText } from '../../widgets/diff-text.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';

interface PinDialogProps {
  readonly pin: HeldDefinition;
  readonly readOnly: boolean;
  readonly onClose: () => void;
}

/** How a held definition differs, and the decision about exactly this one. */
export function PinDialog({ pin, readOnly, onClose }: PinDialogProps): JSX.Element {
  const { gateway, backend, kind, hash, name } = pin;
  const found = useResource(
    (signal) => call('getPin', { path: { hash }, query: { gateway, backend, kind }, signal }),
    [hash],
  );
  const shown = found.data.value;
  const decide = (decision: 'approve' | 'reject', done: string) => (): void =>
    void act(`${name} is ${done}`, 'decidePin', { path: { hash }, body: { gateway, backend, kind, decision } }).then(
      onClose,
    );
  return (
    <Dialog title={`${backend} / ${name.slice(0, MOST_OF_NAME)}`} onClose={onClose} wide>
      <ProblemNote problem={found.problem.value} />
      <p>
        This {kind} is held: {pin.reason}
      </p>
      {shown !== undefined && (
        <>
          {(shown.findings ?? []).map(({ path, finding }) => (
            <p key={`${path} ${finding}`}>
              <strong>
                <Name text={path} /> has {finding}
              </strong>
            </p>
          ))}
          <DiffText diff={(shown.changes ?? []).flatMap(linesOf).join('\n')} label="Changes of the definition" />
          <p class="muted">
            <Name text={hash} />
          </p>
          {!readOnly && (
            <footer class="buttons">
              <button type="button" onClick={onClose}>
                Decide later
              </button>
              {shown.state === 'held' && (
                <button type="button" onClick={decide('reject', 'rejected')}>
                  Reject
                </button>
              )}
              <button type="button" class="danger" onClick={decide('approve', 'approved')}>
                Approve
              </button>
            </footer>
          )}
        </>
      )}
    </Dialog>
  );
}

/** Each line has its sign, so that no line of a text looks like one of the page. */
function linesOf({ path, before, after }: PinChange): readonly string[] {
  const signed = (sign: string, text: string | undefined) =>
    text === undefined ? [] : text.split('\n').map((line) => `${sign} ${line}`);
  return [`  ${path}`, ...signed('-', before), ...signed('+', after)];
}

const MOST_OF_NAME = 200; // characters
