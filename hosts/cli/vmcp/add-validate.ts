import type { Command } from 'commander';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { type FileOptions, LOAD_PLUGINS, readFile, withFile } from '../../vmcp/file-options.ts';

/** Adds `toolmgr vmcp validate`. */
export function addValidate(vmcp: Command): void {
  withFile(
    vmcp.command('validate').description('check a vmcp file, or manifests as a cluster would, and print a summary'),
  )
    .argument('[file]', 'the same as --config')
    .option('--connect', 'also connect to the backends once and check the names of the file against their lists')
    .option(LOAD_PLUGINS.flags, LOAD_PLUGINS.description)
    .addHelpText(
      'after',
      `
What vmcp serve refuses is refused here too. The plugins of the file are applied, but nothing is started: files, ports,
sign-in servers and stores are not opened, and secrets may be missing. The lines "not checked" say what only a start shows.
Files and packages under plugins: are not loaded without --load-plugins, because loading runs their code. Such a file is not
called valid (in JSON: valid is null), because a start may refuse it.

A YAML file with objects of a cluster is checked as the API server and the operator would check it: VirtualMCPServers with the
objects that they refer to, and configurations (MCPOIDCConfig, MCPAuthzConfig, ...), composite tools and entries by themselves.
References to objects that are not in the file are listed as not checked, and so are plugins that only the pods load.

Examples:
  toolmgr vmcp validate -c vmcp.yaml
  toolmgr vmcp validate -c vmcp.yaml --connect
  toolmgr vmcp validate -c vmcp.yaml --load-plugins
  toolmgr vmcp validate -c manifests.yaml --format json`,
    )
    .action(async (named: string | undefined, { config: given, format, connect, loadPlugins }: ValidateOptions) => {
      const file = given ?? named;
      if (file === undefined) throw new UsageError(`name the file: ${ownCommand('vmcp validate -c vmcp.yaml')}`);
      if (named !== undefined && named !== file)
        throw new UsageError('give the file with --config or without it, not both');
      const text = await (await import('../../vmcp/read-config.ts')).readConfigText(file);
      if ((await import('../../operator/manifests/read-manifests.ts')).isManifest(text)) {
        if (connect) throw new UsageError('--connect needs a vmcp file; the backends of manifests are in the cluster');
        if (loadPlugins) throw new UsageError('--load-plugins needs a vmcp file; pods load the plugins of manifests');
        return validateManifests(text, file, format);
      }
      const read = await readFile(file, { loadsPlugins: loadPlugins === true });
      const { config, notLoaded } = read;
      const verdict = notLoaded.length === 0 ? 'valid' : 'unknown';
      if (connect && notLoaded.length > 0) {
        throw new UsageError(`--connect starts ${notLoaded.join(', ')}; add --load-plugins, which runs their code`);
      }
      const start = await (await import('../../vmcp/check-start.ts')).checkStart(read, file);
      const asked = connect
        ? await (await import('../../vmcp/check-against-backends.ts')).checkAgainstBackends(read, file)
        : [];
      const warnings = [...read.warnings, ...start.warnings, ...asked];
      const notChecked = connect ? start.notChecked : [...start.notChecked, 'names of tools (--connect checks them)'];
      for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
      const [{ overviewOf }, { catalogue }] = await Promise.all([
        import('../../vmcp/overview.ts'),
        import('@toolmgr/plugins'),
      ]);
      const lines = await overviewOf(read, catalogue);
      if (format === 'json') {
        const { metadata, statusPages } = config;
        const told = Object.fromEntries(lines.map(({ key, value }) => [key, value]));
        const valid = verdict === 'valid' ? true : null; // null: not known
        return stdout.line(JSON.stringify({ valid, ...told, metadata, statusPages, warnings, notChecked }));
      }
      stdout.line(verdict === 'valid' ? `${file} is valid` : `${file}: no problem found; ${UNKNOWN}`);
      for (const { label, value, text } of lines) stdout.line(`  ${label.padEnd(14)} ${text ?? value}`);
      for (const [key, value] of Object.entries(config.metadata ?? {}))
        stdout.line(`  metadata       ${key}: ${value}`);
      for (const what of notChecked) stdout.line(`  not checked    ${what}`);
    });
}

const UNKNOWN = 'not called valid, because plugins of the file are not loaded';

interface ValidateOptions extends FileOptions {
  readonly connect?: boolean;
  readonly loadPlugins?: boolean;
}

async function validateManifests(text: string, file: string, format: FileOptions['format']): Promise<void> {
  const [{ checkManifests }, { printReport }, { catalogue }] = await Promise.all([
    import('../../operator/manifests/check-manifests.ts'),
    import('../../operator/manifests/print-report.ts'),
    import('@toolmgr/plugins'),
  ]);
  const report = await checkManifests(text, file, catalogue);
  if (format === 'json') {
    const { isValid, ...rest } = report;
    stdout.line(JSON.stringify({ valid: isValid, ...rest }));
  } else printReport(file, report);
  if (!report.isValid) process.exitCode = EXIT_CODES.failed.code;
}
