import { CLIENT_METHODS } from '@toolmgr/core';
import { OTHER } from './bounded-labels.ts';

/** The method as a name for spans and a label for metrics: what a client makes up is one name for all. */
export function methodName(method: string): string {
  return CLIENT_METHODS.has(method) ? method : OTHER;
}
