import { secretNameOf } from '@toolmgr/plugins/kit/workloads';

/** Secrets of a new workload by name. They are kept in a file of their own, mode 0600, and never in `run.json`. */
export interface Collected {
  readonly secrets: Readonly<Record<string, string>>;
}

/** Collects secrets while a configuration is built. */
export interface SecretCollector extends Collected {
  /** Keeps a value and returns the reference that stands for it: `NAME,target=FIELD`. */
  keep(name: string, field: string, value: string): string;
}

/** Makes an empty collector. */
export function collectSecrets(): SecretCollector {
  const secrets: Record<string, string> = {};
  return {
    secrets,
    keep(name, field, value) {
      secrets[name] = value;
      return `${name},target=${field}`;
    },
  };
}

/** The variable of a reference. */
export function secretTargetOf(reference: string): string {
  return reference.slice(reference.indexOf('=') + 1);
}

/** The values of secrets in variables, by variable: `NAME,target=VARIABLE`. A later reference wins. */
export function secretVariables(
  references: readonly string[],
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    references.flatMap((reference) => {
      const name = secretNameOf(reference);
      const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
      return value === undefined ? [] : [[secretTargetOf(reference), value]];
    }),
  );
}

/** The environment variable of a secret. */
export function secretVariable(name: string): string {
  return `TOOLMGR_SECRET_${name}`;
}
