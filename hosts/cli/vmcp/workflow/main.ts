import { type Command, Option } from 'commander';
import { stdout } from '../../../shared/terminal.ts';

/** Adds `toolmgr vmcp workflow …`. What a command needs is loaded when it runs. */
export function addWorkflowCommands(vmcp: Command): void {
  const workflow = vmcp.command('workflow').description('run and draw composite tools');
  workflow
    .command('run')
    .description('run one composite tool against live backends and print each step')
    .argument('<file>', 'vmcp file, or a file with one definition')
    .argument('[params...]', 'parameters as key=value')
    .option('-c, --config <file>', 'vmcp file with the backends, if the first file has only a definition')
    .option('--name <name>', 'which composite tool of the file')
    .option('--params <json>', 'parameters as a JSON object')
    .option('--answers <json>', 'answers to questions: step id to {"action": …, "content": …}')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
The command ignores callers, policies and limits of the file.

Examples:
  toolmgr vmcp workflow run vmcp.yaml --name note_sum a=1 b=2
  toolmgr vmcp workflow run note-sum.yaml -c vmcp.yaml --params '{"a":1,"b":2}'`,
    )
    .action(async (file: string, pairs: string[], options) =>
      (await import('./run.ts')).runWorkflowFile(file, pairs, options),
    );
  workflow
    .command('graph')
    .description('draw the steps of a composite tool')
    .argument('<file>', 'vmcp file, or a file with one definition')
    .option('--name <name>', 'which composite tool of the file')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'mermaid']).default('text'))
    .addHelpText('after', '\nExample:\n  toolmgr vmcp workflow graph vmcp.yaml --name note_sum --format mermaid')
    .action(async (file: string, { name, format }: { name?: string; format: 'text' | 'mermaid' }) => {
      const [{ readDefinition }, { stepTree, mermaid }, { catalogue }] = await Promise.all([
        import('../../../vmcp/workflow/read-definition.ts'),
        import('./draw.ts'),
        import('@toolmgr/plugins'),
      ]);
      const { definition } = await readDefinition(file, name, catalogue);
      for (const line of format === 'mermaid' ? mermaid(definition) : stepTree(definition)) stdout.line(line);
    });
}
