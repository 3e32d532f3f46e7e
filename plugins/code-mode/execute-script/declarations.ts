import { decodeObject, type RawJson } from '@toolmgr/core';
import { shortened, typeOfSchema } from '@toolmgr/plugins/kit/settings';
import type { BoundTool, Scope } from './scope.ts';

/**
 * TypeScript declarations of the functions of a scope, at most `budget` characters.
 *
 * A tool is declared in one of three forms: parameters only, with a short comment, or with comments on parameters and the
 * result type. All tools get the first form; then tools in list order get longer forms while they fit. Tools that do not fit
 * are listed by name, and further ones are counted.
 */
export function declarationsOf({ functions }: Scope, budget: number): string {
  const remaining = { chars: budget - REMAINDER_CHARS };
  const chosen = new Map<BoundTool, string>();
  const groups = new Set<string>();
  for (const tool of functions) {
    const plain = declared(tool, 0);
    const group = tool.member?.group ?? '';
    const cost = plain.length + (groups.has(group) ? 0 : GROUP_CHARS + group.length);
    if (cost > remaining.chars) break;
    groups.add(group);
    chosen.set(tool, plain);
    remaining.chars -= cost;
  }
  if (chosen.size === functions.length) for (const level of [1, 2] as const) enrich(chosen, level, remaining);
  const rest = functions.slice(chosen.size);
  return `${written(chosen)}${omittedTools(rest, remaining.chars + REMAINDER_CHARS)}`;
}

const REMAINDER_CHARS = 400; // reserved for the names of tools that do not fit
const GROUP_CHARS = 'declare const : {\n};\n'.length;

function enrich(chosen: Map<BoundTool, string>, level: 1 | 2, remaining: { chars: number }): void {
  for (const [tool, now] of chosen) {
    const better = declared(tool, level);
    if (better.length - now.length > remaining.chars) continue;
    remaining.chars -= better.length - now.length;
    chosen.set(tool, better);
  }
}

/** Groups in the order of their first tool, then tools without a group. */
function written(chosen: ReadonlyMap<BoundTool, string>): string {
  const groups = Map.groupBy(chosen.keys(), ({ member }) => member?.group);
  const lines: string[] = [];
  for (const [group, tools] of groups) {
    const text = tools.map((tool) => chosen.get(tool) ?? '').join('');
    lines.push(group === undefined ? text : `declare const ${group}: {\n${text}};\n`);
  }
  return lines.join('');
}

function omittedTools(rest: readonly BoundTool[], chars: number): string {
  if (rest.length === 0) return '';
  let line = '// more, without their types:';
  let named = 0;
  for (const { tool, member, flat } of rest) {
    const name =
      member === undefined ? (flat ?? `callTool(${JSON.stringify(tool)})`) : `${member.group}.${member.name}`;
    if (line.length + name.length > chars - MORE_CHARS) break;
    line += ` ${name}`;
    named++;
  }
  return named === rest.length ? `${line}\n` : `${line} … and ${rest.length - named} others\n`;
}

const MORE_CHARS = 40;

/** One tool in one of the three forms, with its line break. */
function declared({ entry, member, flat, tool }: BoundTool, level: 0 | 1 | 2): string {
  const form = formsOf(entry.definition)[level];
  const { signature } = form;
  const indent = member === undefined ? '' : '  ';
  const comment = form.comment === '' ? '' : `${indent}/** ${form.comment} */\n`;
  if (member !== undefined) return `${comment}  ${member.name}${signature}\n`;
  if (flat !== undefined) return `${comment}declare function ${flat}${signature}\n`;
  return `${comment}// callTool(${JSON.stringify(tool)}, args): args as in ${signature}\n`;
}

interface Form {
  readonly comment: string;
  readonly signature: string;
}

const known = new WeakMap<RawJson, readonly [Form, Form, Form]>();

/** The three forms, computed once for each definition. */
function formsOf(definition: RawJson): readonly [Form, Form, Form] {
  const found = known.get(definition);
  if (found !== undefined) return found;
  const { description, inputSchema, outputSchema } = decodeObject(definition) ?? {};
  const about = typeof description === 'string' ? description : '';
  const optional = isOptional(inputSchema) ? '?' : '';
  const args = (depth: number, comments: number): string =>
    `args${optional}: ${typeOfSchema(inputSchema, { depth, comments })}`;
  const result = outputSchema === undefined ? 'any' : typeOfSchema(outputSchema, { depth: 3, comments: 0 });
  const forms = [
    { comment: '', signature: `(${args(1, 0)}): Promise<any>;` },
    { comment: shortened(about, 80), signature: `(${args(2, 0)}): Promise<any>;` },
    { comment: shortened(about, 240), signature: `(${args(3, 80)}): Promise<${result}>;` },
  ] as const;
  known.set(definition, forms);
  return forms;
}

function isOptional(schema: unknown): boolean {
  const { required } = (schema ?? {}) as { readonly required?: unknown };
  return !Array.isArray(required) || required.length === 0;
}
