import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../hosts/cli/main.ts';
import { readTree } from '../support/tree.ts';

const PAGES = /^(?:README|CONTRIBUTING|SECURITY|GOVERNANCE|(?:docs|plugins|hosts|core|examples|deploy)\/.+)\.md$/;

it('commands and options of toolmgr inside a sentence exist', async () => {
  const program = await createProgram();
  const wrong = [...readTree()]
    .filter(([path]) => PAGES.test(path))
    .flatMap(([path, text]) => commandsOf(text).map((line) => [path, faultOf(line, program)] as const))
    .filter(([, fault]) => fault !== undefined);
  expect(wrong).toEqual([]);
  expect(faultOf('plugin check PATH', program)).toBe('toolmgr plugin check PATH: check');
  expect(faultOf('tools --ulr x', program)).toBe('toolmgr tools --ulr x: --ulr');
});

/** What follows `toolmgr` in inline code. Blocks of code have a test of their own. */
function commandsOf(page: string): readonly string[] {
  const prose = page.replace(/^(\s*)```[\s\S]*?^\s*```/gm, '');
  return [...prose.matchAll(/`toolmgr ([^`]+)`/g)].map(([, line = '']) => line);
}

/** The command with its first word that does not exist. */
function faultOf(line: string, program: Command): string | undefined {
  let command = program;
  const options = new Set(namesOf(program));
  for (const word of line.split(/\s+/)) {
    if (word === '--') return undefined;
    if (word.startsWith('--') && !options.has(word.replace(/[=\],].*$/s, ''))) return `toolmgr ${line}: ${word}`;
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
    if (next === undefined && isGroup && /^[a-z]/.test(word)) return `toolmgr ${line}: ${word}`;
    command = next ?? command;
    for (const name of namesOf(command)) options.add(name);
  }
  return undefined;
}

function namesOf(command: Command): readonly string[] {
  return ['--help', ...command.options.flatMap(({ long }) => (long == null ? [] : [long]))];
}
