import { stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { redactCommand } from '../shared/redact-arguments.ts';

/** The `command` of a server as its file has it, and where its program is looked up. */
export interface GivenCommand {
  /** Before variables are expanded. */
  readonly written: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly path: string;
}

/**
 * What to write instead of a `command` that is a whole command line, such as `npx -y foo`; `undefined` for a name or path of a
 * program. Clients run no shell, so the program would be looked up under the whole text. Values that may be secret are not shown.
 */
export async function separatedCommand({ written, file, args, cwd, path }: GivenCommand): Promise<string | undefined> {
  const [program = '', ...rest] = wordsOf(written);
  if (rest.length === 0 || (await isProgram(file, cwd, path))) return undefined;
  if (isPath(program) && !(await isProgram(program, cwd, path))) return undefined; // a folder with a blank in its name
  const [command, ...others] = redactCommand(program, [...rest, ...args]);
  return `"command": ${JSON.stringify(command)}, "args": ${JSON.stringify(others)}`;
}

function wordsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, plain]) => {
    return double ?? single ?? plain ?? '';
  });
}

async function isProgram(file: string, cwd: string, path: string): Promise<boolean> {
  const places = isPath(file) ? [resolve(cwd, file)] : path.split(delimiter).map((folder) => join(folder, file));
  const found = await Promise.all(places.flatMap((place) => SUFFIXES.map((suffix) => isFile(`${place}${suffix}`))));
  return found.includes(true);
}

function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}

function isPath(file: string): boolean {
  return file.includes('/') || (process.platform === 'win32' && file.includes('\\'));
}

const SUFFIXES = process.platform === 'win32' ? ['', '.exe', '.cmd'] : [''];
