import { z } from 'zod';

const variable = z.object({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  value: z.string().optional(),
});

/** A variable, header or argument of a `server.json`. Source: its schema, "Input" and "Argument". */
export const inputSchema = variable.extend({
  type: z.string().optional(),
  name: z.string().optional(),
  valueHint: z.string().optional(),
  choices: z.array(z.string()).max(100).optional(),
  variables: z.record(z.string(), variable).optional(),
});

export type Input = z.output<typeof inputSchema>;

/** The fields of EnvVar and HeaderDef in the contract. A value with an open variable must be given by the user. */
export function variableFrom(input: Input): Readonly<Record<string, unknown>> {
  const value = filledValue(input);
  const inner = Object.values(input.variables ?? {});
  const isOpen = value === undefined && input.value !== undefined;
  return {
    name: input.name ?? '',
    ...(input.description === undefined ? {} : { description: input.description }),
    required: input.isRequired === true || isOpen || inner.some(({ isRequired }) => isRequired === true),
    secret: input.isSecret === true || inner.some(({ isSecret }) => isSecret === true),
    ...(value === undefined ? {} : { default: value }),
    ...(input.choices === undefined ? {} : { choices: input.choices }),
  };
}

/** The arguments with a value, in order, and the names of required arguments without one. */
export function argumentsOf(inputs: readonly Input[]): {
  readonly args: readonly string[];
  readonly missing: readonly string[];
} {
  const args: string[] = [];
  const missing: string[] = [];
  for (const input of inputs) {
    const value = filledValue(input);
    const isFlag = input.type === 'named' && input.name !== undefined;
    // a named argument without a value and without a place for one is a switch
    if (isFlag && input.value === undefined && input.default === undefined && input.valueHint === undefined) {
      if (input.isRequired === true) args.push(input.name ?? '');
    } else if (value !== undefined) args.push(...(isFlag ? [input.name ?? ''] : []), value);
    else if (input.isRequired === true || input.type !== 'named')
      missing.push(input.name ?? input.valueHint ?? 'argument');
  }
  return { args, missing };
}

/** The value with its variables filled in; `undefined` when it or a variable has none. */
function filledValue({ value, default: fallback, variables = {} }: Input): string | undefined {
  const template = value ?? fallback;
  if (template === undefined) return undefined;
  let isComplete = true;
  const filled = template.replace(/\{([^{}]+)\}/g, (all, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (variable === undefined) return all; // an unknown name in braces stays, as the schema says
    const given = variable.value ?? variable.default;
    if (given === undefined) isComplete = false;
    return given ?? '';
  });
  return isComplete ? filled : undefined;
}
