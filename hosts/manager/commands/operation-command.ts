import { isObject, type JsonObject } from '@toolmgr/core';
import type { Operation, OperationCommand } from '@toolmgr/plugins/kit/operations';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { columns, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { argumentsFrom } from '../mcp/tool-from-operation.ts';
import { commandFault, flagOf } from './command-fault.ts';
import type { RunOperation } from './run-operation.ts';

/**
 * Adds the command of an operation: what it takes follows from its schemas.
 * @throws UsageError when the operation cannot have this command; nothing is added
 */
export function addOperationCommand(
  program: Command,
  operation: Operation,
  given: OperationCommand,
  runner: () => Promise<RunOperation>,
): void {
  const { words, arguments: places = [], print = plainText } = given;
  const { inputSchema, partsOf } = argumentsFrom(operation);
  const { properties, required } = inputSchema as InputSchema;
  const fault = commandFault(given, Object.keys(properties));
  if (fault !== undefined) throw new UsageError(fault);
  const command = commandAt(program, words.split(' ')).description(lowered(operation.summary));
  for (const name of places) {
    const schema = properties[name] ?? {};
    const text = required.includes(name) ? `<${name}>` : `[${name}]`;
    command.addArgument(new Argument(text, schema.description ?? '').argParser((given: string) => read(given, schema)));
  }
  for (const [name, schema] of Object.entries(properties)) {
    if (!places.includes(name)) command.addOption(optionFor(name, schema, required.includes(name)));
  }
  command.addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'));
  command.action(async (...all: unknown[]) => {
    const options = command.opts<Record<string, unknown>>();
    const members = {
      ...namesOf(options, properties),
      ...Object.fromEntries(places.map((name, at) => [name, all[at]])),
    };
    const present = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
    const body = await (await runner())(operation, partsOf(present as JsonObject));
    const text = options.format === 'json' ? JSON.stringify(body ?? null, undefined, 2) : print(body);
    for (const line of text === '' ? [] : text.split('\n')) stdout.line(line);
  });
}

interface MemberSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: MemberSchema;
}

interface InputSchema {
  readonly properties: Readonly<Record<string, MemberSchema>>;
  readonly required: readonly string[];
}

/** The command with these words; parents are made where they lack. */
function commandAt(program: Command, words: readonly string[]): Command {
  return words.reduce(
    (parent, word) => parent.commands.find((known) => known.name() === word) ?? parent.command(word),
    program,
  );
}

function optionFor(name: string, schema: MemberSchema, isRequired: boolean): Option {
  const value = schema.type === 'boolean' ? '' : schema.type === 'array' ? ' <value...>' : ' <value>';
  const option = optionOf(name, value, schema.description).makeOptionMandatory(isRequired);
  if (schema.type === 'array') {
    return option.argParser((given: string, before: readonly unknown[] = []) => [
      ...before,
      read(given, schema.items ?? {}),
    ]);
  }
  return schema.type === 'boolean' ? option : option.argParser((given: string) => read(given, schema));
}

/** A value of the command line as the member of a request that it stands for. */
function read(given: string, { type, enum: allowed }: MemberSchema): unknown {
  if (allowed !== undefined && !allowed.includes(given)) {
    throw new InvalidArgumentError(`expected one of ${allowed.join(', ')}`);
  }
  if (type === 'string' || type === undefined) return given;
  if (type === 'integer' || type === 'number') {
    if (given.trim() === '' || Number.isNaN(Number(given))) throw new InvalidArgumentError('expected a number');
    return Number(given);
  }
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidArgumentError('expected JSON');
  }
}

/** Commander names options in camel case. */
function namesOf(options: Readonly<Record<string, unknown>>, properties: InputSchema['properties']) {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, options[optionOf(name).attributeName()]]));
}

/** `--no-cache` is the member `no_cache` here; commander takes it for the opposite of `cache`. */
function optionOf(name: string, value = '', description = ''): Option {
  return Object.assign(new Option(`--${flagOf(name)}${value}`, description), { negate: false });
}

function lowered(summary: string): string {
  return `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`;
}

/** A list of objects as a table, an object as lines, a text as it is. */
function plainText(body: unknown): string {
  const rows = Array.isArray(body) ? body : isObject(body) ? onlyList(body) : undefined;
  if (rows?.every(isObject)) return tableOf(rows as readonly JsonObject[]);
  if (isObject(body)) return columns(Object.entries(body).map(([key, value]) => [key, cellOf(value)])).join('\n');
  return body === undefined ? '' : cellOf(body);
}

function onlyList(body: JsonObject): readonly unknown[] | undefined {
  const [value, ...others] = Object.values(body);
  return others.length === 0 && Array.isArray(value) ? value : undefined;
}

function tableOf(rows: readonly JsonObject[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const head = keys.map((key) => key.toUpperCase());
  return columns([head, ...rows.map((row) => keys.map((key) => cellOf(row[key])))]).join('\n');
}

function cellOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(cellOf).join(', ');
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
