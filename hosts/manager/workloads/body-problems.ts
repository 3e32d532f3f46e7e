import type { FieldProblem } from '@toolmgr/plugins/kit/operations';
import { API_FIELDS } from '../../workloads/fields/member-schemas.ts';
import type { Restored } from './redaction.ts';

/** Collects everything that is wrong in one body. */
export interface BodyProblems {
  /** In the order in which they were found. */
  readonly found: readonly FieldProblem[];
  /** Adds a problem; `path` names a field of the body, e.g. `headers[0]`. */
  add(path: string, detail: string): void;
  /** The value; `undefined`, and a problem for each hidden member that has no stored value. */
  restored<T>(path: string, outcome: Restored<T>): T | undefined;
}

/** Makes an empty collection. */
export function createBodyProblems(): BodyProblems {
  const found: FieldProblem[] = [];
  const add = (path: string, detail: string): void => {
    found.push({ in: 'body', path, detail });
  };
  return {
    found,
    add,
    restored(path, outcome) {
      if ('value' in outcome) return outcome.value;
      for (const name of outcome.hidden) {
        add(name === '' ? path : `${path}.${name}`, 'the value is hidden and there is no stored one: give the value');
      }
      return undefined;
    },
  };
}

/** A fault of the configuration by the name that the body has for the field. */
export function fieldProblem(path: string, detail: string): FieldProblem {
  const [field = ''] = path.split(/[.[]/);
  return { in: 'body', path: `${NAMES_IN_BODY[field] ?? field}${path.slice(field.length)}`, detail };
}

/** A conflict `field: why` by the name that the body has for the field. */
export function conflictProblem(conflict: string): FieldProblem {
  const colon = conflict.indexOf(': ');
  return colon < 0 ? fieldProblem('', conflict) : fieldProblem(conflict.slice(0, colon), conflict.slice(colon + 2));
}

/** Names of the run configuration that a body calls otherwise; those of an object by its name. */
const NAMES_IN_BODY: Readonly<Record<string, string>> = {
  process: 'image',
  ...Object.fromEntries(API_FIELDS.map(({ stored = '', body }) => [first(stored), first(body.name)])),
};

function first(path: string): string {
  return path.split('.', 1)[0] ?? path;
}
