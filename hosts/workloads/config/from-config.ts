import { resolve } from 'node:path';
import { type RunConfig, readRunConfig, withoutStoredLogin } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { ownSecretNames } from '../secrets/references.ts';
import { secretVariable } from './collect-secrets.ts';
import { type NewWorkload, proxyModeWarnings } from './config-from-flags.ts';
import { variablesOfFolder } from './env-files.ts';
import { readText } from './option-file.ts';

/**
 * Reads an exported run configuration. Secrets of options are not part of it: each is read from the
 * variable `TOOLMGR_SECRET_NAME`.
 * @throws UsageError with one line per fault: path, what is wrong, the nearest known field
 */
export async function configFromFile(
  file: string,
  { debug, cwd, nowMs }: { readonly debug: boolean; readonly cwd: string; readonly nowMs: number },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<NewWorkload> {
  const read = readRunConfig(parsed(await readText('--from-config', file, cwd), file));
  if ('problems' in read) throw new UsageError(`--from-config ${file}:\n  ${read.problems.join('\n  ')}`);
  const made = await newFromExported(read.config, { cwd, nowMs });
  return {
    ...made,
    config: { ...made.config, debug: debug || made.config.debug },
    secrets: secretsFrom(made.config, file, env),
  };
}

/** A new workload of an exported configuration, without a stored login and with the variables of its folder. @throws UsageError */
export async function newFromExported(
  exported: RunConfig,
  { cwd, nowMs }: { readonly cwd: string; readonly nowMs: number },
): Promise<NewWorkload> {
  // a login belongs to the machine where the user logged in; the workload asks for a new one
  const config = withoutStoredLogin(exported);
  const warnings: string[] = proxyModeWarnings(config);
  const ofFolder =
    config.env_file_dir === undefined
      ? {}
      : await variablesOfFolder(resolve(cwd, config.env_file_dir), (line) => void warnings.push(line));
  return {
    config: { ...config, env_vars: { ...ofFolder, ...config.env_vars }, created_at: new Date(nowMs).toISOString() },
    warnings,
    secrets: {},
  };
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--from-config ${file} is not JSON`);
  }
}

function secretsFrom(
  config: RunConfig,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const pairs = ownSecretNames(config).map((name) => [name, env[secretVariable(name)] ?? ''] as const);
  const missing = pairs.filter(([, value]) => value === '').map(([name]) => secretVariable(name));
  if (missing.length === 0) return Object.fromEntries(pairs);
  throw new UsageError(`--from-config ${file} refers to secrets, which are not exported: set ${missing.join(', ')}`);
}
