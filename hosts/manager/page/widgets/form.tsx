import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiProblem, FieldFault } from '../app/problem.ts';
import { Field } from './form-fields.tsx';
import { defaultsOf, type FormSchema, kindOf, plainSchema } from './form-schema.ts';
import { ProblemNote } from './problem-note.tsx';

interface FormProps {
  /** Schema of an object. */
  readonly schema: FormSchema;
  /** Document in which references of the schema are found. Default: the schema. */
  readonly root?: unknown;
  readonly initial?: Readonly<Record<string, unknown>>;
  /** Members that are shown at once; the others are under "More settings". Default: all. */
  readonly first?: readonly string[];
  readonly submit: string;
  readonly disabled?: boolean;
  readonly problem?: ApiProblem | undefined;
  readonly onSubmit: (values: Record<string, unknown>) => void;
  readonly onChange?: (values: Record<string, unknown>) => void;
  readonly onCancel?: () => void;
}

/** A form made from a JSON schema. Members without a value are absent from the result. */
export function Form(props: FormProps): JSX.Element {
  const { schema, root = schema, initial, first, submit, disabled, problem, onSubmit, onChange, onCancel } = props;
  const plain = plainSchema(schema, root);
  const values = useSignal<Record<string, unknown>>({ ...defaultsOf(plain, root), ...initial });
  const form = useRef<HTMLFormElement>(null);
  const names = Object.keys(plain.properties ?? {});
  const required = new Set(plain.required);
  const isFirst = (name: string): boolean => first === undefined || first.includes(name) || required.has(name);
  const shown = [
    ...(first?.filter((name) => names.includes(name)) ?? []),
    ...names.filter((name) => !first?.includes(name) && isFirst(name)),
  ];
  const more = names.filter((name) => !isFirst(name));
  const faults = (problem?.fields ?? []).map(({ path, detail }) => ({
    path: path.replace(/\[(\d+)\]/g, '.$1'),
    detail,
  }));

  useEffect(() => {
    if (problem !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem]);

  const field = (name: string): JSX.Element => (
    <Field
      key={name}
      name={name}
      path={name}
      schema={plainSchema(plain.properties?.[name] ?? {}, root)}
      root={root}
      required={required.has(name)}
      faults={faults}
      value={values.value[name]}
      onChange={(value) => {
        values.value = withMember(values.value, name, value);
        onChange?.(values.value);
      }}
    />
  );
  return (
    <form
      ref={form}
      class="form"
      onInvalidCapture={showInvalid}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(values.value);
      }}
    >
      <ProblemNote problem={problem} />
      {kindOf(plain, root) === 'branches' ? (
        <Field
          {...{ name: '', path: '', title: 'Values', schema: plain, root, required: true, faults }}
          value={Object.keys(values.value).length > 0 ? values.value : undefined}
          onChange={(value) => {
            values.value = (value ?? {}) as Record<string, unknown>;
            onChange?.(values.value);
          }}
        />
      ) : (
        shown.map(field)
      )}
      {more.length > 0 && (
        <details open={hasFault(faults, more) || undefined}>
          <summary>More settings ({more.length})</summary>
          {more.map(field)}
        </details>
      )}
      <footer class="buttons">
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" disabled={disabled}>
          {submit}
        </button>
      </footer>
    </form>
  );
}

/** A field that is not valid must be visible, or the browser cannot say so. */
function showInvalid(event: Event): void {
  const details = event.target instanceof Element ? event.target.closest('details') : null;
  if (details !== null) details.open = true;
}

function hasFault(faults: readonly FieldFault[], names: readonly string[]): boolean {
  return faults.some(({ path }) => names.includes(path.split(/[.[]/)[0] ?? ''));
}

function withMember(values: Readonly<Record<string, unknown>>, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = values;
  return value === undefined ? rest : { ...rest, [name]: value };
}
