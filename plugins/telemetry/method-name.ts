import { CLIENT_METHODS } from '@toolmgr/core';
import { OTHER } from './bounded-labels.ts';

/** The method for span names and metric labels; unknown methods share one name. */
export function methodName(method: string): string {
  return CLIENT_METHODS.has(method) ? method : OTHER;
}
