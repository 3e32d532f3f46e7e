import type { EnvVar } from '../../app/shapes.ts';
import type { SecretValue } from '../../widgets/form-parts.tsx';
import type { FormSchema } from '../../widgets/form-schema.ts';

/** The form of a server's inputs. Secret ones are chosen from the stored secrets or typed. */
export function inputsSchema(inputs: readonly EnvVar[], secretKeys: readonly string[]): FormSchema {
  return {
    type: 'object',
    required: inputs.filter((input) => input.required && !input.default).map(({ name }) => name),
    properties: Object.fromEntries(inputs.map((input) => [input.name, inputSchema(input, secretKeys)])),
  };
}

function inputSchema(input: EnvVar, secretKeys: readonly string[]): FormSchema {
  const about = { title: input.name, description: input.description ?? '' };
  if (input.secret) return { ...about, format: 'secret', examples: secretKeys };
  const preset = input.default === undefined || input.default === '' ? {} : { default: input.default };
  if (input.choices?.length) return { ...about, ...preset, enum: input.choices };
  return { ...about, ...preset, type: 'string' };
}

/** Values of a form as the API takes them: plain variables, references to secrets, and secrets that are new. */
export interface SplitInputs {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly { readonly name: string; readonly target: string }[];
  readonly fresh: readonly { readonly target: string; readonly value: string }[];
}

/** Splits the values of {@link inputsSchema}. */
export function splitInputs(inputs: readonly EnvVar[], values: Readonly<Record<string, unknown>>): SplitInputs {
  const env: Record<string, string> = {};
  const secrets: { name: string; target: string }[] = [];
  const fresh: { target: string; value: string }[] = [];
  for (const { name, secret } of inputs) {
    const value = values[name];
    if (value === undefined) continue;
    if (!secret) env[name] = String(value);
    else if ('secret' in (value as SecretValue))
      secrets.push({ name: (value as { secret: string }).secret, target: name });
    else fresh.push({ target: name, value: (value as { value: string }).value });
  }
  return { env, secrets, fresh };
}
