import type { ComponentType } from 'preact';
import type { FieldFault } from '../app/problem.ts';
import type { FormSchema } from './form-schema.ts';

/** What every field of a form gets. `undefined` is an absent value. */
export interface FieldProps {
  readonly name: string;
  /** Where the member is in the body, e.g. `oidc.issuer`. */
  readonly path: string;
  readonly schema: FormSchema;
  readonly root: unknown;
  readonly required: boolean;
  readonly faults: readonly FieldFault[];
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** Instead of the title of the schema, e.g. in rows that have a title already. */
  readonly title?: string;
  /** How many objects of the schema are around it. Default: 0. */
  readonly level?: number;
}

/** The attributes that connect an input with its label, its description and its fault. */
export interface InputAttributes {
  readonly id: string;
  readonly required: boolean;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-describedby': string | undefined;
}

/** A field whose members are fields. */
export interface NestedProps extends FieldProps {
  readonly Member: ComponentType<FieldProps>;
}
