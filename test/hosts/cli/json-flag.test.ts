import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { printsJson } from '../../../hosts/cli/json-flag.ts';
import { createProgram } from '../../../hosts/cli/main.ts';

/** Every command that prints a table. */
const TABLES = [
  'tools',
  'tools preflight',
  'list',
  'status',
  'group list',
  'runtime check',
  'wait',
  'doctor',
  'search',
  'registry list',
  'registry info',
  'registry sources',
  'secret list',
  'client list',
  'client status',
  'upgrade check',
  'skill list',
  'skill info',
  'skill sync',
  'skill upgrade',
  'skill builds',
  'vmcp validate',
  'pins list',
  'vmcp simulate',
  'audit query',
];

/** Commands that print one thing, which has a JSON form too. */
const OTHERS = [
  'call',
  'build',
  'inspect',
  'secret provider',
  'client register',
  'client unregister',
  'upgrade apply',
  'skill install',
  'skill uninstall',
  'skill show',
  'skill validate',
  'skill build',
  'skill push',
  'vmcp explain',
  'pins diff',
  'audit verify',
  'vmcp workflow run',
];

const allOf = (command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] => [
  [path.join(' '), command],
  ...command.commands.flatMap((one) => allOf(one, [...path, one.name()])),
];

it('every command that prints a table has --format json and --json', async () => {
  const all = allOf(await createProgram());
  const withJson = all.filter(([, command]) => command.options.some(({ long }) => long === '--json'));
  expect(withJson.map(([name]) => name).sort()).toEqual([...TABLES, ...OTHERS].sort());
  expect(withJson.every(([, command]) => printsJson(command))).toBe(true);
});

it('no help shows an empty list or map as a default', async () => {
  const all = allOf(await createProgram());
  const strange = all.filter(([, command]) => /\(default:\s+[[{]/.test(command.helpInformation()));
  expect(strange.map(([name]) => name)).toEqual([]);
});
