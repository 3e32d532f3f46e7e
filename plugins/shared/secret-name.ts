/** Name of a secret of a user: letters, digits, `.`, `_`, `-`; starts with a letter or digit; at most 100 characters. */
export const SECRET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Why a name cannot be used; `undefined` when it can. */
export function secretNameProblem(name: string): string | undefined {
  if (SECRET_NAME.test(name)) return undefined;
  return 'a name of a secret has letters, digits, ".", "_", "-", starts with a letter or digit, and has at most 100 characters';
}

/** Bytes of one value. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** A secret and the variable that gets its value: `NAME,target=VARIABLE`. */
export const VARIABLE_REFERENCE = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99},target=[A-Za-z_][A-Za-z0-9_]{0,254}$/;
