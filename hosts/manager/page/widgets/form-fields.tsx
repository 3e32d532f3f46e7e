import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { FieldProps, InputAttributes } from './field-props.ts';
import { Branches } from './form-branches.tsx';
import { Choices, Items, JsonText, MapRows, SecretChoice } from './form-parts.tsx';
import { type FieldKind, type FormSchema, kindOf, plainSchema, titleOf } from './form-schema.ts';
import { Name } from './name.tsx';

/** A member of a form with its label, its description and what the host said about it. */
export function Field(props: FieldProps): JSX.Element {
  const { name, path, schema, root, required, faults } = props;
  const id = useId();
  const kind = kindOf(schema, root);
  const title = props.title ?? titleOf(name, schema);
  const fault = faults.find((one) => one.path === path)?.detail;
  const hints = [schema.description ? `${id}-about` : '', fault ? `${id}-fault` : ''].filter((hint) => hint !== '');
  const attributes: InputAttributes = {
    id,
    required,
    'aria-invalid': fault === undefined ? undefined : true,
    'aria-describedby': hints.length > 0 ? hints.join(' ') : undefined,
  };
  const notes = (
    <>
      {schema.description !== undefined && schema.description !== '' && (
        <p class="about" id={`${id}-about`}>
          {withCode(schema.description)}
        </p>
      )}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </>
  );
  if (GROUPS.has(kind)) {
    return (
      <fieldset class={`field ${kind}`} aria-describedby={attributes['aria-describedby']}>
        <legend>
          {title}
          {required && <RequiredMark />}
        </legend>
        {notes}
        <Group {...props} kind={kind} />
      </fieldset>
    );
  }
  if (kind === 'boolean' && (required || schema.default !== undefined)) {
    return (
      <div class="field">
        <label class="check">
          <input
            {...attributes}
            required={false}
            type="checkbox"
            checked={props.value === true}
            onChange={(event) => props.onChange(event.currentTarget.checked)}
          />
          {title}
        </label>
        {notes}
      </div>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {title}
        {required && <RequiredMark />}
      </label>
      {notes}
      <Input {...props} kind={kind} attributes={attributes} />
    </div>
  );
}

/** Kinds that have several inputs. */
const GROUPS: ReadonlySet<FieldKind> = new Set(['object', 'branches', 'map', 'items', 'choices', 'secret']);

/** A description as a sentence; texts in backquotes are code. */
function withCode(text: string): ComponentChildren {
  const parts = (text.charAt(0).toUpperCase() + text.slice(1)).split('`');
  return parts.map((part, index) => {
    const shown = <Name key={index} text={part} />;
    return index % 2 === 1 ? <code key={index}>{shown}</code> : shown;
  });
}

function RequiredMark(): JSX.Element {
  return (
    <span class="required" title="required">
      {' '}
      *
    </span>
  );
}

function Group({ kind, ...props }: FieldProps & { readonly kind: string }): ComponentChildren {
  if (kind === 'object') return <Members {...props} />;
  if (kind === 'branches') return <Branches {...props} Member={Field} />;
  if (kind === 'map') return <MapRows {...props} Member={Field} />;
  if (kind === 'items') return <Items {...props} Member={Field} />;
  if (kind === 'secret') return <SecretChoice {...props} />;
  return <Choices {...props} />;
}

/** Objects around an object whose members are shown at once; a schema that contains itself has no last level. */
const OPEN_LEVELS = 2;
/** The same for an object that is required. */
const MAX_LEVELS = 4;

function Members({ name, path, schema, root, required, faults, value, onChange, level = 0 }: FieldProps): JSX.Element {
  const members = recordOf(value);
  const isOpen = useSignal(value !== undefined || level < (required ? MAX_LEVELS : OPEN_LEVELS));
  if (!isOpen.value) {
    return (
      <button
        type="button"
        class="small"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Fill in<span class="hidden"> {titleOf(name, schema)}</span>
      </button>
    );
  }
  // an object that is left out needs none of its members
  const isGiven = required || !isEmpty(value);
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, member]) => (
        <Field
          key={name}
          name={name}
          path={`${path}.${name}`}
          schema={plainSchema(member, root)}
          root={root}
          level={level + 1}
          required={isGiven && (schema.required?.includes(name) ?? false)}
          faults={faults}
          value={members[name]}
          onChange={(changed) => {
            const { [name]: _, ...rest } = members;
            const next = changed === undefined ? rest : { ...rest, [name]: changed };
            onChange(Object.keys(next).length > 0 ? next : undefined);
          }}
        />
      ))}
    </>
  );
}

interface InputProps extends FieldProps {
  readonly kind: string;
  readonly attributes: InputAttributes;
}

function Input({ kind, attributes, schema, root, value, onChange }: InputProps): JSX.Element {
  if (kind === 'choice') {
    return <Select options={schema.enum ?? []} names={schema.enumNames} {...{ attributes, value, onChange }} />;
  }
  if (kind === 'boolean') return <Select options={[true, false]} {...{ attributes, value, onChange }} />;
  if (kind === 'lines') {
    const isNumeric = kindOf(plainSchema(schema.items ?? {}, root), root) === 'number';
    return <Lines isNumeric={isNumeric} {...{ attributes, value, onChange }} />;
  }
  if (kind === 'json') return <JsonText {...{ attributes, value, onChange }} />;
  if (kind === 'number') {
    return (
      <input
        {...attributes}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
        placeholder={placeholderOf(schema)}
        value={typeof value === 'number' ? value : ''}
        onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : Number(currentTarget.value))}
      />
    );
  }
  const text = typeof value === 'string' ? value : '';
  const take = (given: string): void => onChange(given === '' ? undefined : given);
  if (schema.format === 'multiline' || text.includes('\n')) {
    return (
      <textarea {...attributes} rows={6} value={text} onInput={({ currentTarget }) => take(currentTarget.value)} />
    );
  }
  if (schema.format === 'password' || schema.writeOnly === true) {
    return (
      <input
        {...attributes}
        type="password"
        autocomplete="new-password"
        value={text}
        onInput={({ currentTarget }) => take(currentTarget.value)}
      />
    );
  }
  const list = schema.examples?.length ? `${attributes.id}-list` : undefined;
  return (
    <>
      <input
        {...attributes}
        type="text"
        {...(list === undefined ? {} : { list })}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholderOf(schema)}
        value={text}
        onInput={({ currentTarget }) => take(currentTarget.value)}
      />
      {list !== undefined && (
        <datalist id={list}>
          {schema.examples?.map((example) => (
            <option key={String(example)} value={String(example)} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface PlainInputProps {
  readonly attributes: InputAttributes;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

interface SelectProps extends PlainInputProps {
  readonly options: readonly unknown[];
  /** What a person reads for each option. */
  readonly names?: readonly string[] | undefined;
}

function Select({ options, names, attributes, value, onChange }: SelectProps): JSX.Element {
  const at = value === '' ? -1 : options.indexOf(value);
  return (
    <select
      {...attributes}
      value={at < 0 ? '' : String(at)}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === '' ? undefined : options[Number(currentTarget.value)])
      }
    >
      <option value="">{attributes.required ? 'Choose…' : 'Not set'}</option>
      {options.map(
        (option, index) =>
          option !== '' && (
            <option key={String(option)} value={String(index)}>
              {names?.[index] ?? optionText(option)}
            </option>
          ),
      )}
    </select>
  );
}

function Lines({
  isNumeric,
  attributes,
  value,
  onChange,
}: PlainInputProps & { readonly isNumeric: boolean }): JSX.Element {
  const lines = Array.isArray(value) ? value.map(String) : [];
  return (
    <textarea
      {...attributes}
      rows={Math.min(8, Math.max(2, lines.length + 1))}
      placeholder="One for each line"
      spellcheck={false}
      defaultValue={lines.join('\n')}
      onInput={({ currentTarget }) => {
        const given = currentTarget.value.split('\n').filter((line) => line.trim() !== '');
        onChange(given.length === 0 ? undefined : isNumeric ? given.map(Number) : given);
      }}
    />
  );
}

function optionText(option: unknown): string {
  if (option === true) return 'Yes';
  return option === false ? 'No' : String(option);
}

function placeholderOf({ default: preset }: FormSchema): string | undefined {
  return preset === undefined || typeof preset === 'object' ? undefined : String(preset);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
