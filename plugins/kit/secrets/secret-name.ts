/** Name of a secret of a user: letters, digits, `.`, `_`, `-`; starts with a letter or digit; at most 100 characters. */
export const SECRET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Why a name cannot be used; `undefined` when it can. */
export function secretNameProblem(name: string): string | undefined {
  if (SECRET_NAME.test(name)) return undefined;
  return 'a name of a secret has letters, digits, ".", "_", "-", starts with a letter or digit, and has at most 100 characters';
}

/** A reference of 1Password: `op://vault/item/field` or `op://vault/item/section/field`. */
const ONE_PASSWORD_REFERENCE = /^op:\/\/[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}(?:\/[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}){2,3}$/;

/** Whether a text is a reference of 1Password, which is a key of the provider `1password`. */
export function isOnePasswordReference(text: string): boolean {
  return ONE_PASSWORD_REFERENCE.test(text);
}

/** What a setting that names a secret may have: a name, or a reference of 1Password. */
export const SECRET_KEY = new RegExp(`${SECRET_NAME.source}|${ONE_PASSWORD_REFERENCE.source}`);

/** Why a text cannot name a secret; `undefined` when it can. */
export function secretKeyProblem(key: string): string | undefined {
  return isOnePasswordReference(key) ? undefined : secretNameProblem(key);
}

/** Bytes of one value. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** A secret and the variable that gets its value: `NAME,target=VARIABLE`. */
export const VARIABLE_REFERENCE =
  /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,99}|op:\/\/[A-Za-z0-9._ /-]{5,400}),target=[A-Za-z_][A-Za-z0-9_]{0,254}$/;
