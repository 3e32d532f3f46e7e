import type { JSX } from 'preact';
import type { ApiProblem } from '../app/problem.ts';

/** A refusal of the host: its sentence and its fields. */
export function ProblemNote({ problem }: { readonly problem: ApiProblem | undefined }): JSX.Element | null {
  if (problem === undefined) return null;
  return (
    <div class="note failed" role="alert">
      <p>{problem.message}</p>
      {problem.fields.length > 0 && (
        <ul>
          {problem.fields.map(({ path, detail }) => (
            <li key={path + detail}>
              {path !== '' && <code>{path}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
