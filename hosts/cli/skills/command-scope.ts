import { access, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { JsonObject } from '@toolmgr/core';
import { checkProjectRoot, PROBLEMS, type Problem } from '@toolmgr/plugins/kit/operations';
import { OperationRefused } from '../../manager/commands/run-operation.ts';
import { type CallOperation, userOperations } from '../../manager/commands/user-operations.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** Flags that say whose skills a command means. */
export interface ScopeFlags {
  readonly scope?: 'user' | 'project';
  readonly projectRoot?: string;
}

/** The scope that the flags name, as members of a request. @throws UsageError */
export async function scopeOf({ scope, projectRoot }: ScopeFlags): Promise<{ scope: string; project_root?: string }> {
  if (scope === 'user' && projectRoot !== undefined)
    throw new UsageError('--scope user and --project-root exclude each other');
  if (scope !== 'project' && projectRoot === undefined) return { scope: 'user' };
  return { scope: 'project', project_root: await projectOf(projectRoot) };
}

/** The project of a command: the given folder, else the work tree of the current folder. @throws UsageError */
export async function projectOf(given: string | undefined): Promise<string> {
  // the person means the folder behind a link; the checks are for other programs
  const folder = given === undefined ? await workTree() : await realpath(resolve(given)).catch(() => resolve(given));
  const checked = await checkProjectRoot(folder);
  if ('problem' in checked)
    throw new UsageError(`--project-root: ${checked.detail.replace(/^project_root /, `${folder} `)}`);
  return checked.root;
}

async function workTree(): Promise<string> {
  const start = await realpath('.');
  for (let folder = start; ; folder = dirname(folder)) {
    const isRoot = await access(join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (isRoot) return folder;
    if (folder === dirname(folder))
      throw new UsageError(`${start} is not in a git work tree: --project-root names the project`);
  }
}

/**
 * Runs an operation of skills. `undefined` after a refusal, which is printed; the exit code is set.
 * @throws UsageError when no plugin offers it
 */
export async function callSkills(
  id: string,
  given: JsonObject = {},
  signal?: AbortSignal,
): Promise<{ readonly body: unknown } | undefined> {
  operations ??= userOperations('skills', ...(INSTALLING.has(id) ? ['clients', 'registry', 'image-verification'] : []));
  const call = await operations;
  try {
    const isHere = id === 'pushSkill' || OWN_VARIABLES.some((name) => process.env[name]);
    return { body: await call(id, given, { isHere, ...(signal === undefined ? {} : { signal }) }) };
  } catch (cause) {
    if (!(cause instanceof OperationRefused)) throw cause;
    printRefusal({ problem: cause.code ?? 'internal_error', detail: cause.message });
    return undefined;
  }
}

/** Operations that read sources or write into folders of clients; the others need the plugin of skills only. */
const INSTALLING: ReadonlySet<string> = new Set([
  ...['getSkillContent', 'installSkill', 'uninstallSkill'],
  ...['syncSkills', 'upgradeSkills'],
]);

/** What operations of skills read from the environment: a manager has that of its own start. */
const OWN_VARIABLES = [
  ...['GIT_TOKEN', 'GIT_TOKEN_HOST', 'GITHUB_TOKEN', 'GITLAB_TOKEN', 'DOCKER_CONFIG', 'REGISTRY_AUTH_FILE'],
  'SOURCE_DATE_EPOCH',
];

/** A command line runs one command. */
let operations: Promise<CallOperation> | undefined;

/** Prints a refusal and sets the exit code. */
export function printRefusal(refusal: Problem): void {
  stderr.line(`toolmgr: ${refusal.detail}`);
  const isPolicy = PROBLEMS[refusal.problem].status === PROBLEMS.forbidden.status;
  process.exitCode = (isPolicy ? EXIT_CODES.policyRefused : EXIT_CODES.failed).code;
}
