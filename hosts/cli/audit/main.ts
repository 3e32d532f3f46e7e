import { type Command, InvalidArgumentError } from 'commander';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { formatOption } from '../../shared/format-option.ts';

/** Adds `toolmgr audit …`. A command loads its code when it runs. */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('check and search audit files of gateways');
  withFiles(audit.command('verify'))
    .description('find lines that were changed, removed or moved since they were written')
    .option('--key <file>', 'public key (PEM) of audit.chain.signingKeyRef, which checkpoints must be signed with')
    .addHelpText(
      'after',
      `
For files that a gateway wrote with audit.chain. Without --key, who can write to the files can also write a whole new chain.
Lines after the last signed checkpoint may be forged or missing: the result says how many there are.
Exit code ${EXIT_CODES.failed.code} when there is a problem.

Examples:
  openssl pkey -in audit.pem -pubout -out audit.pub
  toolmgr audit verify audit.log --rotated --key audit.pub`,
    )
    .action(async (files: readonly string[], options) => (await import('./verify.ts')).verify(files, options));
  withFiles(audit.command('query'))
    .description('print the events that match all options')
    .option('--type <type>', 'type of event, e.g. mcp_tool_call')
    .option('--outcome <outcome>', 'success, failure, error, denied or application_error')
    .option('--user <user>', 'name or subject of the caller')
    .option('--name <name>', 'name of the tool, prompt or resource')
    .option('--backend <name>', 'backend that the call was for')
    .option('--request <id>', 'id of the request: the call, its inner calls and workflow steps')
    .option('--since <time>', 'RFC 3339 time or date, e.g. 2026-11-27T08:00:00Z', timeFrom)
    .option('--until <time>', 'RFC 3339 time or date; events at this time are left out', timeFrom)
    .option('-n, --last <number>', 'only the last matching events', countFrom)
    .addHelpText(
      'after',
      `
Examples:
  toolmgr audit query audit.log --outcome denied --since 2026-11-27
  toolmgr audit query audit.log --rotated --user ada --type mcp_tool_call --json | jq .target`,
    )
    .action(async (files: readonly string[], options) => (await import('./query.ts')).query(files, options));
}

function withFiles(command: Command): Command {
  return command
    .argument('<file...>', 'audit files, in the order in which they were written; .gz files are unpacked')
    .option('--rotated', 'also the rotated parts beside each file, such as FILE.1 and FILE-20261127.gz')
    .addOption(formatOption());
}

function timeFrom(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError('expected a time such as 2026-11-27T08:00:00Z or 2026-11-27');
  return ms;
}

function countFrom(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > MOST) {
    throw new InvalidArgumentError(`expected a whole number from 1 to ${MOST}`);
  }
  return count;
}

const MOST = 100_000; // matching events are kept in memory
