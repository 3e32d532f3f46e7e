import { z } from 'zod';
import { VARIABLE_REFERENCE } from '../../../secrets/secret-name.ts';

/** A value that may be secret: the reference `NAME,target=FIELD`, and never the value itself. */
export const secretReference = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,99},target=[A-Za-z0-9_-]+$/, {
  error: 'expected a reference such as NAME,target=FIELD: a run configuration holds no secret',
});

/** A secret of the user and the variable that gets it: `NAME,target=VARIABLE`. */
export const variableReference = z.string().regex(VARIABLE_REFERENCE, {
  error: 'expected NAME,target=VARIABLE: a run configuration holds no secret',
});

/** The name of the secret in a reference `NAME,target=FIELD`, or in `NAME`. */
export function secretNameOf(reference: string): string {
  return reference.replace(/,.*$/s, '');
}

/** Name under which the proxy of a workload keeps a secret of the user for a header: distinct from those of the workload. */
export function headerSecret(name: string): string {
  return `user/${name}`;
}
