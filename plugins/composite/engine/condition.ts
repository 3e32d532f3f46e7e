import type { JsonObject, StepTemplate } from '@toolmgr/core';
import { valueFromText } from './coerce.ts';
import { StepFailure } from './step-failure.ts';

/** A compiled condition. */
export interface Condition {
  readonly text: string;
  /** @throws StepFailure when the template fails or renders neither true nor false */
  holds(data: JsonObject): boolean;
}

/** Accepts `true`, `True`, `TRUE`, `false`, `False`, `FALSE`, with blanks around them. */
export function conditionFrom(text: string, template: StepTemplate<string>): Condition {
  return {
    text,
    holds(data) {
      const said = template.render(data);
      const value = valueFromText(said, 'boolean');
      if (typeof value === 'boolean') return value;
      throw new StepFailure(`the condition rendered ${JSON.stringify(said.slice(0, 100))}, expected true or false`);
    },
  };
}
