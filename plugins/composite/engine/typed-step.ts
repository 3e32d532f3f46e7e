import { z } from 'zod';
import { step } from './definition-schema.ts';
import { STEP_TYPES } from './step-types.ts';

/** The parts of a JSON Schema that are read here. */
interface Written {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Written>>;
}

/**
 * A step whose JSON Schema has the keys of the built-in types too, for editors and Kubernetes. What is parsed stays the same,
 * since each type reads its own keys. The schema is made when it is read, which a start of the gateway does not do.
 */
export const typedStep = step.meta({
  get properties() {
    const ofTypes = [...STEP_TYPES].flatMap(([type, { options }]) =>
      Object.entries(written(options).properties ?? {}).map(([key, schema]) => [key, told(type, schema)]),
    );
    return { ...written(step).properties, ...Object.fromEntries(ofTypes) };
  },
});

/** Which steps have a key. Its default is told and not set: the API server would set it in steps of every type. */
function told(type: string, { description = '', default: value, ...schema }: Written): Written {
  const texts = [`${type}: ${description}`, ...(value === undefined ? [] : [`${JSON.stringify(value)} by default`])];
  return { description: texts.join('; ').replace(': ; ', ': '), ...schema };
}

/** The JSON Schema of what is written in a file. Recursive values, which are any JSON, stay open. */
function written(schema: z.ZodType): Written {
  const { $defs: _, ...found } = z.toJSONSchema(schema, { io: 'input' });
  return JSON.parse(JSON.stringify(found), (_key, value) => (Object.hasOwn(Object(value), '$ref') ? {} : value));
}
