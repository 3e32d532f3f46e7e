import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type McpTarget, sendMcp } from '../../app/mcp.ts';
import type { Json, Listed, McpAnswer, Progress } from '../../app/mcp-shapes.ts';
import { ApiProblem, sentenceOf } from '../../app/problem.ts';
import { Form } from '../../widgets/form.tsx';
import { defaultsOf } from '../../widgets/form-schema.ts';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { AsRequest } from './as-request.tsx';
import { InputRequests } from './input-requests.tsx';
import { type Kind, keyOf } from './kinds.ts';
import { type PastCall, remember, secretsOf } from './past-calls.ts';
import { outcomeOf, Result } from './result.tsx';
import { Waiting } from './waiting.tsx';

interface TryOutProps {
  /** The endpoint, as links name it. */
  readonly endpoint: string;
  readonly target: McpTarget;
  readonly kind: Kind;
  readonly entry: Listed;
  /** An earlier call: its values and its answer are shown. */
  readonly past: PastCall | undefined;
}

/** An answer, when the request was sent and how long it took. */
interface Answered {
  readonly begun: number;
  readonly answer: McpAnswer;
  readonly ms: number;
}

/** The form of one entry, its answer, and the same request for other clients. */
export function TryOut({ endpoint, target, kind, entry, past }: TryOutProps): JSX.Element {
  const schema = kind.schemaOf(entry);
  const values = useSignal<Json>(past?.values ?? defaultsOf(schema, schema));
  const answered = useSignal<Answered | undefined>(past?.answer && { answer: past.answer, begun: 0, ms: past.ms });
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const running = useSignal<AbortController | undefined>(undefined);
  const progress = useSignal<Progress | undefined>(undefined);
  const asked = useRef<Json>({});
  const sent = useRef<Json>({});
  useEffect(() => () => running.value?.abort(), []);

  const send = async (params: Json): Promise<void> => {
    const attempt = new AbortController();
    running.value?.abort();
    running.value = attempt;
    problem.value = undefined;
    progress.value = undefined;
    const told = (given: Progress): void => {
      progress.value = given;
    };
    let outcome: PastCall['outcome'] | undefined;
    const begun = performance.now();
    try {
      const answer = await sendMcp(target, kind.method, params, attempt.signal, told);
      answered.value = { answer, begun, ms: performance.now() - begun };
      if (inputOf(answer) === undefined) outcome = outcomeOf(answer);
    } catch (error) {
      answered.value = undefined;
      outcome = attempt.signal.aborted ? 'cancelled' : 'error';
      if (!attempt.signal.aborted)
        problem.value = error instanceof ApiProblem ? error : new ApiProblem(sentenceOf(error), 0, '');
    } finally {
      if (running.value === attempt) running.value = undefined;
      if (outcome !== undefined) {
        remember({
          ...{ endpoint, kind: kind.name, key: keyOf(entry), values: sent.current, secrets: secretsOf(schema) },
          ...{ ms: performance.now() - begun, outcome },
          ...(answered.value === undefined ? {} : { answer: answered.value.answer }),
        });
      }
    }
  };
  const start = (given: Json): void => {
    values.value = given;
    sent.current = given;
    asked.current = kind.paramsOf(entry, given);
    void send(asked.current);
  };
  const needs = answered.value && inputOf(answered.value.answer);
  return (
    <>
      <h2>
        <code>
          <Name text={keyOf(entry)} />
        </code>
      </h2>
      {entry.description !== undefined && (
        <p class="lines">
          <Name text={entry.description} />
        </p>
      )}
      <Hints entry={entry} />
      <Form
        schema={schema}
        {...(past === undefined ? {} : { initial: past.values })}
        submit={running.value === undefined ? kind.submit : 'Waiting for the answer'}
        disabled={running.value !== undefined}
        onChange={(given) => {
          values.value = given;
        }}
        onSubmit={start}
      />
      {running.value !== undefined && <Waiting progress={progress.value} onCancel={() => running.value?.abort()} />}
      <ProblemNote problem={problem.value} />
      <div role="status">
        {needs !== undefined && (
          <InputRequests
            key={answered.value?.begun}
            requests={needs.requests}
            answer={(inputResponses) =>
              void send({
                ...asked.current,
                inputResponses,
                ...(needs.state === undefined ? {} : { requestState: needs.state }),
              })
            }
          />
        )}
        {answered.value !== undefined && needs === undefined && (
          <Result answer={answered.value.answer} ms={answered.value.ms} />
        )}
      </div>
      <AsRequest target={target} method={kind.method} params={kind.paramsOf(entry, values.value)} />
    </>
  );
}

/** What the server needs before it answers; `undefined` for an answer (MCP 2026-07-28, `input_required`). */
function inputOf(answer: McpAnswer): { readonly requests: Json; readonly state: unknown } | undefined {
  if (!('result' in answer) || answer.result.resultType !== 'input_required') return undefined;
  const { inputRequests = {}, requestState } = answer.result;
  return { requests: inputRequests as Json, state: requestState };
}

const HINTS: readonly (readonly [name: string, value: boolean, text: string])[] = [
  ['readOnlyHint', true, 'only reads'],
  ['destructiveHint', true, 'may delete or overwrite'],
  ['openWorldHint', true, 'uses other systems'],
];

function Hints({ entry: { annotations = {} } }: { readonly entry: Listed }): JSX.Element | null {
  const found = HINTS.filter(([name, value]) => annotations[name] === value);
  if (found.length === 0) return null;
  return (
    <ul class="tags" aria-label="What the server says about it">
      {found.map(([name, , text]) => (
        <li key={name}>{text}</li>
      ))}
    </ul>
  );
}
