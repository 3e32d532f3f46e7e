import { inheritedEnvironment } from '@toolmgr/core';

/** The whole environment of a workload: what every program inherits, then what it was given. */
export function workloadEnvironment(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return { ...inheritedEnvironment(own), ...given };
}
