import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { NestedProps } from './field-props.ts';
import {
  branchesOf,
  defaultsOf,
  type FieldKind,
  type FormSchema,
  kindOf,
  onlyValue,
  plainSchema,
} from './form-schema.ts';

/** A value of one of several forms (`oneOf`, `anyOf`, several types): a choice of the form, and its field. */
export function Branches(props: NestedProps): JSX.Element {
  const { Member, schema, root, required, value, onChange } = props;
  const branches = branchesOf(schema, root);
  const chosen = useSignal(value === undefined ? -1 : branches.findIndex((branch) => fits(branch, root, value)));
  const id = useId();
  const branch = branches[chosen.value];
  return (
    <>
      <label class="hidden" for={id}>
        Form of the value
      </label>
      <select
        id={id}
        required={required}
        value={chosen.value < 0 ? '' : String(chosen.value)}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value === '' ? -1 : Number(currentTarget.value);
          onChange(startOf(branches[chosen.value], root));
        }}
      >
        <option value="">{required ? 'Choose…' : 'Not set'}</option>
        {branches.map((one, index) => (
          <option key={index} value={String(index)}>
            {titleOf(one, root)}
          </option>
        ))}
      </select>
      {branch !== undefined && onlyValue(branch) === undefined && (
        <Member {...props} key={chosen.value} required schema={branch} title={titleOf(branch, root)} />
      )}
    </>
  );
}

function startOf(branch: FormSchema | undefined, root: unknown): unknown {
  if (branch === undefined) return undefined;
  return (
    branch.default ?? onlyValue(branch) ?? (kindOf(branch, root) === 'object' ? defaultsOf(branch, root) : undefined)
  );
}

function fits(branch: FormSchema, root: unknown, value: unknown): boolean {
  if (branch.enum !== undefined) return branch.enum.includes(value);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const kind = kindOf(branch, root);
  if (kind === 'object' || kind === 'map') {
    return isObject && constantsOf(branch, root).every(([name, constant]) => Object(value)[name] === constant);
  }
  const type = TYPES[kind];
  return type === undefined || (type === 'array' ? Array.isArray(value) : typeof value === type);
}

const TYPES: Partial<Record<FieldKind, string>> = {
  text: 'string',
  number: 'number',
  boolean: 'boolean',
  lines: 'array',
  items: 'array',
  choices: 'array',
};

/** What a person chooses: the title, the value of a constant or of the constants of an object, or the kind. */
function titleOf(branch: FormSchema, root: unknown): string {
  if (branch.title !== undefined && branch.title !== '') return branch.title;
  if (branch.enum !== undefined) return branch.enum.map(String).join(', ');
  const constants = constantsOf(branch, root).map(([, constant]) => String(constant));
  if (constants.length > 0) return constants.join(', ');
  const names = Object.keys(branch.properties ?? {});
  return names.length > 0 ? names.join(', ') : KINDS[kindOf(branch, root)];
}

const KINDS: Readonly<Record<FieldKind, string>> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  choice: 'Choice',
  choices: 'List',
  lines: 'List',
  items: 'List',
  secret: 'Secret',
  object: 'Object',
  branches: 'Others',
  map: 'Names and values',
  json: 'JSON',
};

function constantsOf({ properties = {} }: FormSchema, root: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const constant = onlyValue(plainSchema(member, root));
    return constant === undefined ? [] : [[name, constant] as const];
  });
}
