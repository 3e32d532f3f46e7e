import type { JSX } from 'preact';
import type { ApiProblem } from '../app/problem.ts';
import { Name } from './name.tsx';

/** A refusal of the host: its sentence and its fields. */
export function ProblemNote({ problem }: { readonly problem: ApiProblem | undefined }): JSX.Element | null {
  if (problem === undefined) return null;
  return (
    <div class="note failed" role="alert">
      <p>
        <Name text={problem.message} />
      </p>
      {problem.fields.length > 0 && (
        <ul>
          {problem.fields.map(({ path, detail }) => (
            <li key={path + detail}>
              {path !== '' && <code>{path}</code>} <Name text={detail} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
