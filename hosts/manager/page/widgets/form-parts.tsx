import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { FieldProps, InputAttributes, NestedProps } from './field-props.ts';
import { plainSchema } from './form-schema.ts';

/** A stored secret, or a value that becomes one. */
export type SecretValue = { readonly secret: string } | { readonly value: string };

/** Chooses a stored secret or takes a new value, which is stored before it is used. */
export function SecretChoice({ schema, required, value, onChange }: FieldProps): JSX.Element {
  const keys = (schema.examples ?? []).map(String);
  const given = value as SecretValue | undefined;
  const kept = given !== undefined && 'secret' in given ? given.secret : '';
  const typed = given !== undefined && 'value' in given ? given.value : '';
  const isNew = useSignal(keys.length === 0);
  const id = useId();
  return (
    <>
      {keys.length > 0 && (
        <>
          <label class="hidden" for={`${id}-kept`}>
            Stored secret
          </label>
          <select
            id={`${id}-kept`}
            required={required}
            value={isNew.value ? NEW : kept}
            onChange={({ currentTarget }) => {
              isNew.value = currentTarget.value === NEW;
              const chosen = isNew.value ? '' : currentTarget.value;
              onChange(chosen === '' ? undefined : { secret: chosen });
            }}
          >
            <option value="">{required ? 'Choose…' : 'Not set'}</option>
            {keys.map((key) => (
              <option key={key} value={key}>
                {key}
              </option>
            ))}
            <option value={NEW}>New value…</option>
          </select>
        </>
      )}
      {isNew.value && (
        <>
          <label class="hidden" for={`${id}-new`}>
            New value
          </label>
          <input
            id={`${id}-new`}
            type="password"
            autocomplete="new-password"
            required={required}
            value={typed}
            placeholder="Value, stored encrypted"
            onInput={({ currentTarget }) =>
              onChange(currentTarget.value === '' ? undefined : { value: currentTarget.value })
            }
          />
        </>
      )}
    </>
  );
}

const NEW = '\u0000new'; // no name of a secret

/** Any of the values of a list. */
export function Choices({ schema, root, value, onChange }: FieldProps): JSX.Element {
  const chosen = Array.isArray(value) ? (value as unknown[]) : [];
  const { enum: options = [], enumNames } = plainSchema(schema.items ?? {}, root);
  return (
    <div class="choices">
      {options.map((option, index) => (
        <label class="check" key={String(option)}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={(event) => {
              const rest = chosen.filter((one) => one !== option);
              const next = event.currentTarget.checked ? [...rest, option] : rest;
              onChange(next.length > 0 ? next : undefined);
            }}
          />
          {enumNames?.[index] ?? String(option)}
        </label>
      ))}
    </div>
  );
}

/** Rows of a name and a value. */
export function MapRows({ Member, name, path, schema, root, faults, value, onChange }: NestedProps): JSX.Element {
  const rows = useSignal<readonly (readonly [string, unknown])[]>(Object.entries((value as object | undefined) ?? {}));
  const id = useId();
  const member = typeof schema.additionalProperties === 'object' ? plainSchema(schema.additionalProperties, root) : {};
  const update = (next: readonly (readonly [string, unknown])[]): void => {
    rows.value = next;
    const named = next.filter(([key]) => key !== '');
    onChange(named.length > 0 ? Object.fromEntries(named.map(([key, item]) => [key, item ?? ''])) : undefined);
  };
  return (
    <>
      {rows.value.map(([key, item], index) => (
        <div class="row" key={index}>
          <div class="field">
            <label for={`${id}-${index}`}>Name</label>
            <input
              id={`${id}-${index}`}
              value={key}
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget }) => update(rows.value.with(index, [currentTarget.value, item]))}
            />
          </div>
          <Member
            name={name}
            title="Value"
            path={`${path}.${key}`}
            schema={{ ...member, description: '' }}
            root={root}
            required={false}
            faults={faults}
            value={item}
            onChange={(changed) => update(rows.value.with(index, [key, changed]))}
          />
          <button type="button" class="small" onClick={() => update(rows.value.toSpliced(index, 1))}>
            Remove<span class="hidden"> {key}</span>
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        onClick={() => {
          rows.value = [...rows.value, ['', undefined]];
        }}
      >
        Add
      </button>
    </>
  );
}

/** A list of objects, each in its own group. */
export function Items({ Member, name, path, schema, root, faults, value, onChange }: NestedProps): JSX.Element {
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const member = plainSchema(schema.items ?? {}, root);
  const update = (next: readonly unknown[]): void => onChange(next.length > 0 ? next : undefined);
  return (
    <>
      {items.map((item, index) => (
        <div class="row" key={index}>
          <Member
            name={name}
            title={String(index + 1)}
            path={`${path}[${index}]`}
            schema={member}
            root={root}
            required={false}
            faults={faults}
            value={item}
            onChange={(changed) => update(items.with(index, changed ?? {}))}
          />
          <button type="button" class="small" onClick={() => update(items.toSpliced(index, 1))}>
            Remove<span class="hidden"> {index + 1}</span>
          </button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => update([...items, {}])}>
        Add
      </button>
    </>
  );
}

interface JsonTextProps {
  readonly attributes: InputAttributes;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** A value as JSON, for schemas that no other field shows. */
export function JsonText({ attributes, value, onChange }: JsonTextProps): JSX.Element {
  const fault = useSignal('');
  return (
    <>
      <textarea
        {...attributes}
        class="code"
        rows={4}
        spellcheck={false}
        placeholder="JSON"
        defaultValue={value === undefined ? '' : JSON.stringify(value, undefined, 2)}
        onInput={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          try {
            onChange(text === '' ? undefined : JSON.parse(text));
            fault.value = '';
          } catch (error) {
            fault.value = error instanceof Error ? error.message : 'This is no JSON.';
          }
          currentTarget.setCustomValidity(fault.value);
        }}
      />
      {fault.value !== '' && <p class="fault">{fault.value}</p>}
    </>
  );
}
