import type { OperationCommand } from '@toolmgr/plugins/kit/operations';

/** Options that every command of an operation has. */
const OF_EVERY_COMMAND: ReadonlySet<string> = new Set(['format', 'json', 'help']);

const WORDS = /^[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*$/;
const FLAG = /^[a-z][a-z0-9-]*$/;

/** The option of a member: `max-age` for `max_age` and for `maxAge`. */
export function flagOf(name: string): string {
  return name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Why a command cannot be made of an operation with these members; `undefined` when it can. */
export function commandFault(
  { words, arguments: places = [] }: OperationCommand,
  members: readonly string[],
): string | undefined {
  if (!WORDS.test(words)) return `its words are "${words}": expected words of a-z, digits and -`;
  const unknown = places.find((name) => !members.includes(name));
  if (unknown !== undefined) return `the operation takes no ${unknown}, which is in its arguments`;
  const owners = new Map<string, string>();
  for (const name of members.filter((each) => !places.includes(each))) {
    const flag = flagOf(name);
    const owner = owners.get(flag);
    if (!FLAG.test(flag)) return `--${flag} of ${name} is no name of an option`;
    if (owner !== undefined) return `${owner} and ${name} would both be --${flag}`;
    if (OF_EVERY_COMMAND.has(flag))
      return `every command has an option --${flag}: give ${name} another name, or put it into the arguments`;
    owners.set(flag, name);
  }
  return undefined;
}
