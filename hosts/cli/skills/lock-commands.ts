import { present } from '@toolmgr/core';
import { terminalAsk } from '../../shared/ask.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { callSkills, projectOf } from './command-scope.ts';

interface LockFlags {
  readonly projectRoot?: string;
  readonly client?: readonly string[];
  readonly yes?: boolean;
  readonly format: 'text' | 'json';
}

/** `toolmgr skill sync`. */
export async function sync(
  flags: LockFlags & {
    readonly check?: boolean;
    readonly prune?: boolean;
    readonly adopt?: boolean;
    readonly allowUnsigned?: boolean;
  },
): Promise<void> {
  const { projectRoot, client, yes = false, format, check, prune, adopt, allowUnsigned } = flags;
  const root = await projectOf(projectRoot);
  using stop = stopSignal();
  if (!yes && flags.check !== true && !(await isConfirmed('sync', '--check', root, stop.signal))) return;
  const wish = { project_root: root, clients: client, check, prune, adopt, allow_unsigned: allowUnsigned };
  const done = await callSkills('syncSkills', present(wish), stop.signal);
  if (done === undefined) return;
  const result = done.body as SyncResult;
  if (format === 'json') stdout.json(result);
  else for (const line of columns(syncRows(result, flags.check === true))) stdout.line(line);
  process.exitCode = syncExitCode(result, flags.check === true);
}

/**
 * Asks whether the skills of a project may be changed. Without a terminal, or without a yes, the command is refused.
 *
 * Source: reference workload-api §5.6.
 */
async function isConfirmed(command: string, reporting: string, root: string, signal: AbortSignal): Promise<boolean> {
  const ask = terminalAsk();
  const answer = await ask?.(`skill ${command} changes the skills of ${root}; do it? [y/N]: `, { signal });
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return true;
  const why =
    ask === undefined
      ? `there is no terminal to confirm it on: --yes does it, ${reporting} only reports`
      : 'as you said';
  stderr.line(`toolmgr: skill ${command} changed nothing: ${why}`);
  process.exitCode = EXIT_CODES.policyRefused.code;
  return false;
}

function syncRows(result: SyncResult, isCheck: boolean): string[][] {
  const { failed, ...lists } = result;
  const rows = Object.entries(lists).flatMap(([kind, names]) =>
    names.map((name) => [name, TEXTS[kind as keyof typeof TEXTS][isCheck ? 1 : 0]]),
  );
  const failures = failed.map(({ name, error }) => [name, `failed: ${error}`]);
  const all = [...rows, ...failures];
  return all.length === 0 ? [['the lock file has no skills']] : all;
}

/** What happened, and what a check found. */
const TEXTS = {
  already_current: ['is current', 'is current'],
  drifted: ['differed and is restored', 'differs from the lock file'],
  installed: ['is installed', 'is installed'],
  missing: ['is missing', 'is missing'],
  never_managed: ['the project has no lock file', 'the project has no lock file: --adopt writes one'],
  pruned: ['is uninstalled', 'is uninstalled'],
  removed_from_lock: ['is not in the lock file', 'is not in the lock file: --prune uninstalls it'],
} as const;

/** The result of a sync: names of skills, and why others failed. */
type SyncResult = Readonly<Record<keyof typeof TEXTS, readonly string[]>> & {
  readonly failed: readonly { readonly name: string; readonly error: string; readonly reason: string }[];
};

/** Whether a check found a difference. */
export function hasDrift({ missing, drifted, removed_from_lock, failed }: SyncResult): boolean {
  return missing.length + drifted.length + removed_from_lock.length + failed.length > 0;
}

/** Source: reference workload-api §5.6. */
function syncExitCode(result: SyncResult, isCheck: boolean): number {
  if (result.failed.some(({ reason }) => POLICY.has(reason))) return EXIT_CODES.policyRefused.code;
  if (isCheck) return (hasDrift(result) ? EXIT_CODES.changed : EXIT_CODES.ok).code;
  return (result.failed.length > 0 ? EXIT_CODES.partlyFailed : EXIT_CODES.ok).code;
}

const POLICY: ReadonlySet<string> = new Set([
  'signature-invalid',
  'signer-mismatch',
  'provenance-field-mismatch',
  'unsigned-rejected',
]);

interface UpgradeOutcome {
  readonly name: string;
  readonly status: string;
  readonly new_digest?: string;
  readonly error?: string;
  readonly reason?: string;
}

/** `toolmgr skill upgrade`. */
export async function upgrade(
  names: readonly string[],
  flags: LockFlags & {
    readonly preview?: boolean;
    readonly failOnChanges?: boolean;
    readonly allowRefChange?: boolean;
    readonly allowSignerChange?: boolean;
  },
): Promise<void> {
  const { projectRoot, client, yes = false, format } = flags;
  const root = await projectOf(projectRoot);
  using stop = stopSignal();
  const isReport = flags.preview === true || flags.failOnChanges === true;
  if (!yes && !isReport && !(await isConfirmed('upgrade', '--preview', root, stop.signal))) return;
  const wish = {
    project_root: root,
    clients: client,
    names: names.length === 0 ? undefined : names,
    preview: flags.preview,
    fail_on_changes: flags.failOnChanges,
    allow_ref_change: flags.allowRefChange,
    allow_signer_change: flags.allowSignerChange,
  };
  const done = await callSkills('upgradeSkills', present(wish), stop.signal);
  if (done === undefined) return;
  const result = done.body as { readonly outcomes: readonly UpgradeOutcome[] };
  if (format === 'json') stdout.json(result);
  else for (const line of columns(result.outcomes.map((one) => upgradeRow(one)))) stdout.line(line);
  process.exitCode = upgradeExitCode(result.outcomes, flags.failOnChanges === true);
}

function upgradeRow({ name, status, new_digest: digest, error }: UpgradeOutcome): string[] {
  const shown = status === 'upgraded' ? `to ${digest}` : error;
  return [name, status, ...(shown === undefined ? [] : [shown])];
}

function upgradeExitCode(outcomes: readonly UpgradeOutcome[], failsOnChanges: boolean): number {
  const has = (...wanted: readonly string[]) => outcomes.some(({ status }) => wanted.includes(status));
  const isInvalid = outcomes.some(({ reason }) => reason !== undefined && POLICY.has(reason));
  if (has('ref-change-blocked', 'signer-change-blocked') || isInvalid) return EXIT_CODES.policyRefused.code;
  if (failsOnChanges && has('upgraded')) return EXIT_CODES.changed.code;
  return (has('failed') ? EXIT_CODES.partlyFailed : EXIT_CODES.ok).code;
}
