import type { JSX } from 'preact';
import { Name } from './name.tsx';

interface BriefProps {
  readonly text: string | undefined;
  /** It stands below something more important. */
  readonly isSecond?: boolean;
  readonly isCode?: boolean;
}

/** At most two lines of a text that may be long; the whole is in its tooltip. Nothing for a text that is absent or empty. */
export function Brief({ text, isSecond, isCode }: BriefProps): JSX.Element | null {
  if (text === undefined || text === '') return null;
  const shown = <Name text={text.slice(0, MAX_SHOWN)} />;
  return (
    <div class={isSecond ? 'brief muted' : 'brief'} title={text}>
      {isCode ? <code>{shown}</code> : shown}
    </div>
  );
}

/** More characters than two lines of a cell have. */
const MAX_SHOWN = 400;
