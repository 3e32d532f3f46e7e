import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { type ApiProblem, sentenceOf } from '../../app/problem.ts';
import { safeUrl } from '../../app/safe-url.ts';
import { notify } from '../../app/toasts.ts';
import { ProblemNote } from '../../widgets/problem-note.tsx';

interface RegistryProblemProps {
  readonly problem: ApiProblem | undefined;
  readonly retry: () => void;
}

/** Why the registry is not available, and the sign-in when it needs one. */
export function RegistryProblem({ problem, retry }: RegistryProblemProps): JSX.Element | null {
  const works = useSignal(false);
  const link = useSignal<string | undefined>(undefined);
  if (problem === undefined) return null;
  const logIn = async (): Promise<void> => {
    works.value = true;
    try {
      const { url } = await call('logInToRegistry', { body: { skip_browser: true } });
      link.value = safeUrl(url);
      if (link.value === undefined) retry();
    } catch (error) {
      notify('failed', sentenceOf(error));
    } finally {
      works.value = false;
    }
  };
  return (
    <>
      <ProblemNote problem={problem} />
      <p class="buttons">
        <button type="button" onClick={retry}>
          Try again
        </button>
        {problem.code === 'registry_auth_required' && (
          <button type="button" class="primary" disabled={works.value} onClick={() => void logIn()}>
            Sign in at the registry
          </button>
        )}
        {link.value !== undefined && (
          <a class="button primary" href={link.value} target="_blank" rel="noreferrer noopener">
            Open the sign-in page
          </a>
        )}
      </p>
    </>
  );
}
