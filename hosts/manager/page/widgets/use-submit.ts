import { useSignal } from '@preact/signals';
import { ApiProblem, sentenceOf } from '../app/problem.ts';

/** The state of a form that is sent: whether it works, and what the host refused. */
export interface Submit<Values> {
  readonly works: boolean;
  readonly problem: ApiProblem | undefined;
  readonly submit: (values: Values) => void;
}

/** Sends a form. What `send` throws is shown in the form. */
export function useSubmit<Values>(send: (values: Values) => Promise<void>): Submit<Values> {
  const works = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const run = async (values: Values): Promise<void> => {
    works.value = true;
    problem.value = undefined;
    try {
      await send(values);
    } catch (error) {
      problem.value = error instanceof ApiProblem ? error : new ApiProblem(sentenceOf(error), 0, '');
    } finally {
      works.value = false;
    }
  };
  return { works: works.value, problem: problem.value, submit: (values) => void run(values) };
}
