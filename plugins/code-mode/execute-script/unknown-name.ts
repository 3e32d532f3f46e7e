import { nearest, type ScriptFunction, shortened } from '@toolmgr/core';
import type { Scope } from './scope.ts';

const MAX_NAME = 128; // characters of an unknown name in an error; longer ones are cut
const MAX_COMPARED = 2_000; // names that are compared for one hint
const MAX_LISTED = 5; // functions of a group that are listed when no name is similar
/** Hints per script: the search for similar names takes time on the gateway's thread. */
const MAX_HINTS = 10;

/** Error texts for unknown names, with suggestions. Suggests only tools that the caller may use. */
export interface UnknownNames {
  /** The error of `callTool(name)` and `group.member()`. */
  tool(name: string): string;
  /** A suggestion to append to the error that ended a script; empty when there is none. */
  afterError(message: string): string;
}

/** Creates the error texts for one script. */
export function createUnknownNames(scope: Scope): UnknownNames {
  let hints = 0;
  const hinted = (name: string, hint: () => string): string =>
    name.length > MAX_NAME || ++hints > MAX_HINTS ? '' : hint();
  return {
    tool(name) {
      const parts = partsOf(name, scope);
      if (parts === undefined)
        return `unknown tool "${shortened(name, MAX_NAME)}"${hinted(name, () => toolHint(name, scope))}`;
      const { group, member } = parts;
      const unknown = `unknown tool "${shortened(member, MAX_NAME)}" of backend "${group}"`;
      return `${unknown}${hinted(name, () => memberHint(group, member, scope))}`;
    },
    afterError(message) {
      const name = NOT_DEFINED.exec(message)?.[1];
      return name === undefined ? '' : hinted(name, () => suggestion([nearest(name, globalsOf(scope))]));
    },
  };
}

/** The engine's error for a name that is not in scope. */
const NOT_DEFINED = /^ReferenceError: '?([A-Za-z_$][\w$]*)'? is not defined/;

/** Splits `group.member` when the group exists. */
function partsOf(name: string, { functions }: Scope) {
  const dot = name.indexOf('.');
  const group = name.slice(0, Math.max(dot, 0));
  const isGroup = functions.some(({ member }) => member?.group === group);
  return isGroup ? { group, member: name.slice(dot + 1) } : undefined;
}

/** A similar function of the group and one with the same name in another group, else the functions of the group. */
function memberHint(group: string, name: string, scope: Scope): string {
  const own = scope.functions.flatMap(({ member }) => (member?.group === group ? [member.name] : []));
  const near = nearest(name, own.slice(0, MAX_COMPARED));
  const other = inAnotherGroup(name, scope) ?? byFullName(group, name, scope);
  if (near !== undefined || other !== undefined) return suggestion([near && `${group}.${near}`, other]);
  const listed = own.slice(0, MAX_LISTED).join(', ');
  return `; it has ${listed}${own.length > MAX_LISTED ? ` and ${own.length - MAX_LISTED} others` : ''}`;
}

function toolHint(name: string, scope: Scope): string {
  const byPlace = () =>
    nearest(
      name,
      scope.functions.map(dotted).filter((each) => each !== undefined),
    );
  const byName = () => {
    const near = nearest(name, scope.names.slice(0, MAX_COMPARED));
    return near === undefined ? undefined : `"${near}"`;
  };
  const near = name.includes('.') ? (byPlace() ?? byName()) : (byName() ?? byPlace());
  return suggestion([near, inAnotherGroup(name, scope)]);
}

/** The first function with exactly this name, in any group. */
function inAnotherGroup(name: string, { functions }: Scope): string | undefined {
  const found = functions.find(({ member }) => member?.name === name);
  return found === undefined ? undefined : dotted(found);
}

/** A tool without a group: one of the gateway itself, or one above MAX_FUNCTIONS. */
function byFullName(group: string, name: string, { find }: Scope): string | undefined {
  const full = [`${group}_${name}`, name].find((each) => find(each) !== undefined);
  return full === undefined ? undefined : `callTool(${JSON.stringify(full)})`;
}

function dotted({ member }: ScriptFunction): string | undefined {
  return member === undefined ? undefined : `${member.group}.${member.name}`;
}

function globalsOf({ functions }: Scope): string[] {
  const groups = functions.flatMap(({ member }) => (member === undefined ? [] : [member.group]));
  const flat = functions.flatMap((each) => (each.flat === undefined ? [] : [each.flat]));
  return [...new Set([...BUILT_IN_NAMES, ...groups, ...flat])].slice(0, MAX_COMPARED);
}

const BUILT_IN_NAMES = ['callTool', 'parallel', 'console', 'data'];

function suggestion(names: readonly (string | undefined)[]): string {
  const known = [...new Set(names.filter((name) => name !== undefined))];
  return known.length === 0 ? '' : `, did you mean ${known.join(' or ')}?`;
}
