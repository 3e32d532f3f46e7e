import { isObject, type JsonObject } from '@toolmgr/core';
import type { Operation, OperationTool } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { RawParts } from '../http/read-request.ts';

/** An operation as a tool. */
export interface ManagerTool {
  readonly name: string;
  readonly operation: Operation;
  /** Whether a person is asked before a call with these arguments. */
  asks(given: JsonObject): boolean;
  /** The tool as clients list it. */
  readonly definition: JsonObject;
  /** Sorts the arguments of a call into the parts of a request. */
  partsOf(given: JsonObject): RawParts;
}

/** The tools of the operations that have one. */
export function toolsFromOperations(operations: readonly Operation[]): readonly ManagerTool[] {
  return operations.flatMap((operation) => (operation.tool === undefined ? [] : [toolFrom(operation, operation.tool)]));
}

function toolFrom(operation: Operation, tool: OperationTool): ManagerTool {
  const { inputSchema, partsOf } = argumentsFrom(operation);
  return {
    name: tool.name,
    operation,
    asks: (given) => asks(tool, given),
    definition: {
      name: tool.name,
      title: operation.summary,
      description: tool.description ?? [operation.summary, operation.description].filter(Boolean).join('. '),
      inputSchema,
      annotations: {
        readOnlyHint: tool.readOnly === true,
        destructiveHint: tool.destructive !== undefined && tool.destructive !== false,
        idempotentHint: tool.idempotent === true,
      },
    } as JsonObject,
    partsOf,
  };
}

/** What an operation takes, as one object: parameters of path and query, and the members of its body. */
export function argumentsFrom(operation: Operation): Pick<ManagerTool, 'partsOf'> & { readonly inputSchema: object } {
  const path = objectSchema(operation.params);
  const query = objectSchema(operation.query);
  const body = objectSchema(operation.body);
  const isFlat = operation.body === undefined || canMerge(body, [path, query]);
  return {
    inputSchema: inputSchema(operation, path, query, body, isFlat),
    partsOf: (given) => partsOf(given, operation, path, query, isFlat),
  };
}

function asks({ destructive = false }: OperationTool, given: JsonObject): boolean {
  if (typeof destructive === 'boolean') return destructive;
  const members = argumentsOf(given);
  return destructive.when.some((name) => members.some(([key, value]) => key === name && value !== false));
}

/** The arguments of a call by name, those of a body that is one argument too. */
export function argumentsOf(given: JsonObject): readonly (readonly [string, unknown])[] {
  return Object.entries(given).flatMap(([name, value]) =>
    name === 'body' && isObject(value) ? Object.entries(value) : [[name, value] as const],
  );
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly $defs: Readonly<Record<string, unknown>>;
  /** It lists all its members. */
  readonly isClosed: boolean;
}

/** The members of an object schema; a schema with an id is a reference to its definition. */
function objectSchema(schema: z.ZodType | undefined): ObjectSchema {
  if (schema === undefined) return { properties: {}, required: [], $defs: {}, isClosed: true };
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ReadSchema;
  const { type, properties = {}, required = [], additionalProperties } = resolved(root, $defs);
  return { properties, required, $defs, isClosed: type === 'object' && additionalProperties === false };
}

interface ReadSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, ReadSchema>>;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

function resolved(root: ReadSchema, definitions: Readonly<Record<string, ReadSchema>>): ReadSchema {
  return root.$ref === undefined ? root : (definitions[root.$ref.replace('#/$defs/', '')] ?? root);
}

/** Members of the body are arguments beside the parameters when no name is in both. */
function canMerge(body: ObjectSchema, others: readonly ObjectSchema[]): boolean {
  return (
    body.isClosed && !others.some(({ properties }) => Object.keys(body.properties).some((name) => name in properties))
  );
}

function inputSchema(
  operation: Operation,
  path: ObjectSchema,
  query: ObjectSchema,
  body: ObjectSchema,
  isFlat: boolean,
): object {
  const nested = { properties: { body: nestedBody(operation) }, required: operation.bodyOptional ? [] : ['body'] };
  const last = isFlat ? { ...body, required: operation.bodyOptional ? [] : body.required } : nested;
  const $defs = { ...path.$defs, ...query.$defs, ...body.$defs };
  return {
    type: 'object',
    properties: { ...path.properties, ...query.properties, ...last.properties },
    required: [...path.required, ...query.required, ...last.required],
    additionalProperties: false,
    ...(Object.keys($defs).length === 0 ? {} : { $defs }),
  };
}

function nestedBody({ body }: Operation): object {
  if (body === undefined) return {};
  const {
    $schema: _,
    $defs: _defs,
    ...root
  } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
  return root;
}

function partsOf(
  given: JsonObject,
  operation: Operation,
  path: ObjectSchema,
  query: ObjectSchema,
  isFlat: boolean,
): RawParts {
  const params: Record<string, unknown> = {};
  const asked: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name in path.properties) params[name] = asText(value);
    else if (name in query.properties) asked[name] = asText(value);
    else rest[name] = value;
  }
  if (operation.body === undefined) return { params, query: { ...asked, ...rest }, body: undefined }; // unknown names are refused
  if (!isFlat) {
    const { body, ...unknown } = rest;
    return { params, query: { ...asked, ...unknown }, body };
  }
  const isEmpty = Object.keys(rest).length === 0;
  return { params, query: asked, body: isEmpty && operation.bodyOptional === true ? undefined : rest };
}

/** Parameters of a URL are text; their schemas convert it. */
function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
