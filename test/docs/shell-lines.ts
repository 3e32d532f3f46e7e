/** One program with its arguments, as a shell would start it. Variables and substitutions stay as text. */
export type CommandWords = readonly string[];

const SEPARATORS = ['&&', '||', '|', ';', '&', '(', ')'] as const;

/**
 * The programs that a script of POSIX shell starts, in order. Assignments and redirections are left out, comments too.
 * @throws Error for a quote without an end
 */
export function commandsIn(script: string): readonly CommandWords[] {
  const commands: string[][] = [[]];
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    for (const word of wordsOf(line)) {
      if ((SEPARATORS as readonly string[]).includes(word.text) && !word.quoted) commands.push([]);
      else commands.at(-1)?.push(word.text);
    }
    commands.push([]);
  }
  return commands.map(withoutShellParts).filter((words) => words.length > 0);
}

interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

const TOKEN = /\s+|#.*$|&&|\|\||[|;&()]|(?:\$\([^)]*\)|\$\{[^}]*\}|'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s|;&()'"\\])+/g;

function wordsOf(line: string): readonly Word[] {
  const tokens = line.match(TOKEN) ?? [];
  if (tokens.join('') !== line) throw new Error(`not a line of a shell: ${line}`);
  return tokens
    .filter((token) => token.trim() !== '' && !token.startsWith('#'))
    .map((token) => ({ text: unquoted(token), quoted: /['"\\]/.test(token) }));
}

function unquoted(token: string): string {
  return token.replace(
    /(\$\([^)]*\))|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
    (_all, substitution?: string, single?: string, double?: string, escaped?: string) =>
      substitution ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  );
}

/** Without `NAME=value` in front, and without `> file`. */
function withoutShellParts(words: readonly string[]): CommandWords {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  if (first === -1) return [];
  const rest = words.slice(first);
  return rest.filter((word, at) => !/^\d?[<>]/.test(word) && !/^\d?(?:>>?|<)$/.test(rest[at - 1] ?? ''));
}
