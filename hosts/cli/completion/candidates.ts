import type { Command, Option } from 'commander';

/** Values that only the state folder knows. Read when they are asked for. */
export interface KnownNames {
  workloads(): Promise<readonly string[]>;
  groups(): Promise<readonly string[]>;
  /** Backends of running gateways. */
  backends(): Promise<readonly string[]>;
  /** Tools of running gateways. */
  tools(): Promise<readonly string[]>;
  gateways(): Promise<readonly string[]>;
}

/** A word that may follow. */
export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/**
 * What may follow a command line. The last word is the one that is being typed, empty for a new one. Nothing follows `--`:
 * its words are for the server.
 */
export async function candidates(
  program: Command,
  words: readonly string[],
  names: KnownNames,
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (before.includes('--')) return [];
  const { command, waits } = follow(program, before);
  const all = waits === undefined ? await wordsOf(command, typed, names) : await valuesOf(waits, names);
  return all.filter(({ value }) => value.startsWith(typed));
}

/** The command that the words lead to, and the option whose value comes next. */
function follow(program: Command, words: readonly string[]): { readonly command: Command; readonly waits?: Option } {
  let command = program;
  let waits: Option | undefined;
  for (const word of words) {
    if (waits !== undefined) waits = undefined;
    else if (word.startsWith('-')) waits = word.includes('=') ? undefined : optionWithValue(command, word);
    else command = command.commands.find((one) => one.name() === word || one.aliases().includes(word)) ?? command;
  }
  return waits === undefined ? { command } : { command, waits };
}

function optionWithValue(command: Command, word: string): Option | undefined {
  const option = command.options.find(({ long, short }) => long === word || short === word);
  return option?.required ? option : undefined;
}

async function valuesOf(option: Option, names: KnownNames): Promise<readonly Candidate[]> {
  if (option.argChoices !== undefined) return option.argChoices.map(plain);
  if (option.attributeName() === 'gateway') return (await names.gateways()).map(plain);
  return option.attributeName() === 'group' ? (await names.groups()).map(plain) : [];
}

async function wordsOf(command: Command, typed: string, names: KnownNames): Promise<readonly Candidate[]> {
  if (typed.startsWith('-')) {
    return command.options
      .filter(({ hidden }) => !hidden)
      .flatMap(({ long, description }) => (long ? [{ value: long, about: firstSentence(description) }] : []));
  }
  const below = command.commands
    .filter((one) => one.name() !== HIDDEN)
    .map((one) => ({ value: one.name(), about: firstSentence(one.description()) }));
  return [...below, ...(await namesFor(command, names)).map(plain)];
}

/** Names of what the first argument of a command is, by its description. */
async function namesFor(command: Command, names: KnownNames): Promise<readonly string[]> {
  const [argument] = command.registeredArguments;
  if (argument === undefined) return [];
  const kinds = KINDS.filter(([word]) => word.test(argument.description));
  const found = await Promise.all(kinds.map(([, kind]) => names[kind]()));
  return [...new Set(found.flat())];
}

const KINDS: readonly (readonly [RegExp, keyof KnownNames])[] = [
  [/workload/, 'workloads'],
  [/backend/, 'backends'],
  [/names? of the tool|advertised name/, 'tools'],
  [/, of a running gateway/, 'gateways'],
  [/^(?!.*workload).*group/, 'groups'],
];

/** Name of the command that the scripts call. */
export const HIDDEN = 'complete';

function plain(value: string): Candidate {
  return { value, about: '' };
}

function firstSentence(text: string): string {
  return (
    text
      .split(/[;:(]|\. /)[0]
      ?.trim()
      .replaceAll('\t', ' ') ?? ''
  );
}
