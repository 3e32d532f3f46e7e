import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import type { EnvVar, RegistryEntry } from '@toolmgr/plugins/registry';
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
  /** Which of the secrets are those of the user. */
  readonly stored: ReadonlySet<string>;
}

/**
 * Finds the values of the variables of an entry: a default, a secret of the user, or an answer on the terminal for required
 * ones. `isForeign`: the registry is at a URL. Its authors choose the names, so its entries get secrets of the user only after
 * a yes on a terminal.
 *
 * Source: reference run-command §0.5. `config` has what flags and files give, which wins.
 * @throws UsageError that names every required variable without a value
 */
export async function entryValues(
  { name, image }: RegistryEntry,
  config: Pick<RunConfig, 'env_vars'>,
  given: ReadonlySet<string>,
  storedSecret: FindSecret,
  ask: Ask | undefined,
  isForeign = false,
): Promise<EntryValues> {
  const open = (image?.env_vars ?? []).filter(
    (variable) => !Object.hasOwn(config.env_vars, variable.name) && !given.has(variable.name),
  );
  const findSecret = isForeign ? await allowedSecrets(name, open, storedSecret, ask) : storedSecret;
  const env: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  const stored = new Set<string>();
  const missing: EnvVar[] = [];
  for (const variable of open) {
    const values = variable.secret ? secrets : env;
    const own = variable.secret ? await findSecret(variable.name) : undefined;
    if (own !== undefined) stored.add(variable.name);
    const value = own ?? variable.default;
    if (value !== undefined) values[variable.name] = value;
    else if (variable.required && ask !== undefined) {
      const answer = await ask(questionFor(name, variable), { hides: variable.secret });
      if (answer === '') missing.push(variable);
      else values[variable.name] = answer;
    } else if (variable.required) missing.push(variable);
  }
  if (missing.length > 0) throw new UsageError(missingText(name, missing));
  return { env, secrets, stored };
}

/** The secrets of the user that the entry may have: all or none of those that it names. */
async function allowedSecrets(
  name: string,
  variables: readonly EnvVar[],
  storedSecret: FindSecret,
  ask: Ask | undefined,
): Promise<FindSecret> {
  const found = new Map<string, string>();
  for (const { name: variable, secret } of variables) {
    const value = secret ? await storedSecret(variable) : undefined;
    if (value !== undefined) found.set(variable, value);
  }
  if (found.size === 0) return async () => undefined;
  const names = [...found.keys()];
  const wants = `${name} would get your ${names.length === 1 ? 'secret' : 'secrets'} ${names.join(', ')}`;
  if (ask === undefined) {
    const flags = names.map((each) => `--secret ${each},target=${each}`).join(' ');
    throw new UsageError(`${wants}, which its registry asks for by name: allow it by ${flags}, or give other values`);
  }
  const answer = await ask(`${wants}\nallow this? [y/N]: `);
  const isAllowed = /^y(es)?$/i.test(answer.trim());
  return async (variable) => (isAllowed ? found.get(variable) : undefined);
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
