import { isObject, type JsonObject, type JsonValue, type StepTemplate } from '@toolmgr/core';
import { type JsonTypeName, valueFromText } from './coerce.ts';
import type { CompositeDefinition, OutputProperty } from './definition-schema.ts';
import { MAX_DEPTH } from './limits.ts';
import type { Problems } from './problem.ts';
import { StepFailure } from './step-failure.ts';
import type { TemplateReader } from './templates.ts';

/** The compiled `output` of a workflow. */
export interface Output {
  /** The tool's `outputSchema`. */
  readonly schema: JsonObject;
  /** @throws StepFailure that names the property without a value */
  build(data: JsonObject): JsonObject;
}

type Definition = NonNullable<CompositeDefinition['output']>;
type Build = (data: JsonObject) => JsonValue;

/** Compiles `output`. Source: vmcp spec §2 compositeTools, output property. */
export function compileOutput(
  { properties, required }: Definition,
  reader: TemplateReader,
  problems: Problems,
): Output {
  for (const [index, name] of required.entries()) {
    if (!Object.hasOwn(properties, name)) problems.add(['required', index], `output has no property "${name}"`);
  }
  const build = compileProperties(properties, ['output', 'properties'], reader, problems.under('properties'), 1);
  return {
    schema: { type: 'object', properties: schemasOf(properties), ...(required.length === 0 ? {} : { required }) },
    build(data) {
      const output = build(data);
      for (const name of required) {
        if (output[name] === undefined || output[name] === null)
          throw new StepFailure(`required property "${name}" has no value`);
      }
      return output;
    },
  };
}

function compileProperties(
  properties: Readonly<Record<string, OutputProperty>>,
  place: readonly (string | number)[],
  reader: TemplateReader,
  problems: Problems,
  depth: number,
): (data: JsonObject) => JsonObject {
  if (depth > MAX_DEPTH) problems.add([], `properties are nested more than ${MAX_DEPTH} deep`);
  const built = Object.entries(properties).map(([name, property]): [string, Build] => {
    const path = [...place, name];
    return [name, compileProperty(name, property, path, reader, problems.under(name), depth)];
  });
  return (data) => Object.fromEntries(built.map(([name, build]) => [name, build(data)]));
}

function compileProperty(
  name: string,
  property: OutputProperty,
  path: readonly (string | number)[],
  reader: TemplateReader,
  problems: Problems,
  depth: number,
): Build {
  const { type, value, properties } = property;
  if (properties !== undefined) {
    if (value !== undefined) problems.add(['value'], 'value and properties exclude each other; expected one of them');
    if (type !== 'object') problems.add(['type'], 'expected object, because the property has properties');
    if (depth >= MAX_DEPTH) {
      problems.add(['properties'], `properties are nested more than ${MAX_DEPTH} deep`);
      return () => null;
    }
    return compileProperties(properties, [...path, 'properties'], reader, problems.under('properties'), depth + 1);
  }
  if (value === undefined) {
    problems.add([], 'neither value nor properties; expected one of them');
    return () => null;
  }
  const fallback = property.default === undefined ? undefined : coerced(property.default, type);
  if (property.default !== undefined && fallback === undefined) problems.add(['default'], `cannot be read as ${type}`);
  const template = reader.text(value, [...path, 'value']);
  return (data) => valueFor(name, template, type, fallback, data);
}

/** What a template renders for a missing member. */
const NO_VALUE = '<no value>';

function valueFor(
  name: string,
  template: StepTemplate<string>,
  type: JsonTypeName,
  fallback: JsonValue | undefined,
  data: JsonObject,
): JsonValue {
  let why = 'has no value';
  try {
    const text = template.render(data);
    const value = text === NO_VALUE ? undefined : valueFromText(text, type);
    if (value !== undefined) return value;
    if (text !== NO_VALUE) why = `cannot be read as ${type}`;
  } catch (cause) {
    if (!(cause instanceof StepFailure)) throw cause;
    why = cause.message;
  }
  if (fallback !== undefined) return fallback;
  throw new StepFailure(`property "${name}" ${why}`);
}

/** Converts a `default` to the type of its property; `undefined` when that is impossible. */
function coerced(value: JsonValue, type: JsonTypeName): JsonValue | undefined {
  if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof value === 'string') {
    if (type === 'boolean') return SPELLINGS.get(value.trim().toLowerCase());
    return type === 'integer' ? truncated(Number(value.trim() || 'NaN')) : valueFromText(value, type);
  }
  if (type === 'integer') return typeof value === 'number' ? truncated(value) : undefined;
  if (type === 'boolean' && typeof value === 'number') return value === 0 ? false : value === 1 ? true : undefined;
  const fits = {
    number: typeof value === 'number',
    boolean: typeof value === 'boolean',
    object: isObject(value),
    array: Array.isArray(value),
  };
  return fits[type] ? value : undefined;
}

function truncated(number: number): number | undefined {
  const whole = Math.trunc(number);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

const SPELLINGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['no', false],
  ['0', false],
]);

function schemasOf(properties: Readonly<Record<string, OutputProperty>>): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, description, properties: inner }]) => [
      name,
      {
        type,
        ...(description === undefined ? {} : { description }),
        ...(inner === undefined ? {} : { properties: schemasOf(inner) }),
      },
    ]),
  );
}
