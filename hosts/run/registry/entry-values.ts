import type { EnvVar, RegistryEntry } from '@toolmgr/plugins/registry';
import type { RunConfig } from '@toolmgr/plugins/workloads/state';
import type { Ask } from '../../shared/ask.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** Reads a secret of the user by its name; `undefined` when there is none. */
export type FindSecret = (name: string) => Promise<string | undefined>;

/** Values for the variables of an entry that neither a flag nor a file gives. */
export interface EntryValues {
  /** Plain values: defaults and answers. */
  readonly env: Readonly<Record<string, string>>;
  /** Secret values by variable. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Finds the values of the variables of an entry: a default, a secret of the user, or an answer on the terminal for required
 * ones.
 *
 * Source: reference run-command §0.5. `config` has what flags and files give, which wins.
 * @throws UsageError that names every required variable without a value
 */
export async function entryValues(
  { name, image }: RegistryEntry,
  config: Pick<RunConfig, 'env_vars'>,
  given: ReadonlySet<string>,
  findSecret: FindSecret,
  ask: Ask | undefined,
): Promise<EntryValues> {
  const env: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const missing: EnvVar[] = [];
  for (const variable of image?.env_vars ?? []) {
    if (Object.hasOwn(config.env_vars, variable.name) || given.has(variable.name)) continue;
    const values = variable.secret ? secrets : env;
    const value = (variable.secret ? await findSecret(variable.name) : undefined) ?? variable.default;
    if (value !== undefined) values[variable.name] = value;
    else if (variable.required && ask !== undefined) {
      const answer = await ask(questionFor(name, variable), { hides: variable.secret });
      if (answer === '') missing.push(variable);
      else values[variable.name] = answer;
    } else if (variable.required) missing.push(variable);
  }
  if (missing.length > 0) throw new UsageError(missingText(name, missing));
  return { env, secrets };
}

function questionFor(name: string, { name: variable, description }: EnvVar): string {
  return `${name} needs ${variable}${description === undefined ? '' : ` (${description.split('\n')[0]})`}: `;
}

function missingText(name: string, missing: readonly EnvVar[]): string {
  const lines = missing.map(({ name: variable, description, secret }) => {
    const how = secret
      ? `--secret NAME,target=${variable} or the variable TOOLMGR_SECRET_${variable}`
      : `--env ${variable}=VALUE`;
    return `  ${variable}${description === undefined ? '' : ` (${description.split('\n')[0]})`}: ${how}`;
  });
  return `${name} needs values:\n${lines.join('\n')}`;
}
