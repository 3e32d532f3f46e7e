import { Command, Help, type Option } from 'commander';

/** Columns of the terms in a help text; a longer term has a line of its own, so that its description can be wrapped. */
const MAX_TERM_COLUMNS = 34;
/** Narrower descriptions are not wrapped. */
const MIN_COLUMNS = 20;

/** What booleans may be, as in the command lines of Go programs. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ '1': true, t: true, T: true, true: true, True: true, TRUE: true },
  ...{ '0': false, f: false, F: false, false: false, False: false, FALSE: false },
};

/** The value of a boolean option; `undefined` for any other text. */
export function booleanFrom(text: string): boolean | undefined {
  return Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
}

/**
 * A command of the program, and all commands below it. Boolean options are `--x` and `--x=false` and never take the next word;
 * the help fits the terminal.
 *
 * Shape: an option without a value, or with an optional one (`--x [BOOLEAN]`), is a boolean.
 */
export class ProgramCommand extends Command {
  override createCommand(name?: string): ProgramCommand {
    return new ProgramCommand(name);
  }

  override createHelp(): Help {
    return Object.assign(new ProgramHelp(), this.configureHelp());
  }

  override parseOptions(args: string[]): { operands: string[]; unknown: string[] } {
    const { words, off } = this.#withBooleans(args);
    const read = super.parseOptions(words);
    for (const option of off) this.setOptionValueWithSource(option.attributeName(), false, 'cli');
    return read;
  }

  /** The words with booleans as commander reads them, and the plain options whose last value is false. */
  #withBooleans(args: readonly string[]): { readonly words: string[]; readonly off: ReadonlySet<Option> } {
    const words: string[] = [];
    const off = new Set<Option>();
    for (let at = 0; at < args.length; at++) {
      const word = args[at] ?? '';
      if (word === '--' || (!word.startsWith('-') && this.commands.length > 0)) {
        words.push(...args.slice(at));
        break;
      }
      const [name = '', value] = word.split(/=(.*)/s, 2);
      const option = this.options.find(({ long, short }) => name === long || name === short);
      if (option?.optional) words.push(`${option.long}=${value ?? 'true'}`);
      else if (option?.isBoolean()) {
        if (this.#isOn(option, value)) off.delete(option);
        else off.add(option);
        if (!off.has(option)) words.push(name);
      } else {
        words.push(word);
        const next = args[at + 1];
        if (option?.required && value === undefined && next !== undefined) {
          words.push(next);
          at++;
        }
      }
    }
    return { words, off };
  }

  #isOn(option: Option, value = 'true'): boolean {
    return booleanFrom(value) ?? this.error(`error: option '${option.flags}' is wrong: expected true or false after =`);
  }
}

class ProgramHelp extends Help {
  override minWidthToWrap = MIN_COLUMNS;

  override padWidth(command: Command, helper: Help): number {
    return Math.min(super.padWidth(command, helper), MAX_TERM_COLUMNS);
  }

  override optionTerm(option: Option): string {
    return super.optionTerm(option).replace(' [BOOLEAN]', '[=BOOLEAN]');
  }

  override formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    if (description === '' || helper.displayWidth(term) <= termWidth) {
      return super.formatItem(term, termWidth, description, helper);
    }
    return `  ${term}\n${super.formatItem('', termWidth, description, helper)}`;
  }
}
