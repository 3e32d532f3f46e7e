import type { JsonObject, StepTemplate } from '@toolmgr/core';
import { valueFromText } from './coerce.ts';
import { StepFailure } from './step-failure.ts';

/** A condition that was read. */
export interface Condition {
  readonly text: string;
  /** @throws StepFailure when the template fails or gives neither true nor false */
  holds(data: JsonObject): boolean;
}

/** `true`, `True`, `TRUE` and the same of false count, blanks around them do not. */
export function conditionFrom(text: string, template: StepTemplate<string>): Condition {
  return {
    text,
    holds(data) {
      const said = template.render(data);
      const value = valueFromText(said, 'boolean');
      if (typeof value === 'boolean') return value;
      throw new StepFailure(`the condition gave ${JSON.stringify(said.slice(0, 100))}, expected true or false`);
    },
  };
}
