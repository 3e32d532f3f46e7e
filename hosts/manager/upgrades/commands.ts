import { readWorkload, secretReference, stateDir } from '@toolmgr/plugins/workloads/state';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { upgradeDeps } from './upgrade-deps.ts';
import type { UpgradeCheck } from './upgrade-result.ts';

/** Flags of `toolmgr upgrade check`. */
export interface CheckFlags {
  readonly all?: boolean;
  readonly group?: string;
  readonly format: 'text' | 'json';
}

/** `toolmgr upgrade check`. @throws UsageError for an unknown name or group */
export async function checkUpgrades(
  names: readonly string[],
  { all = false, group, format }: CheckFlags,
): Promise<void> {
  if (names.length > 0 && (all || group !== undefined)) {
    throw new UsageError('give names, --all or --group NAME: names not together with the others');
  }
  const state = stateDir();
  const deps = upgradeDeps(state);
  using stop = stopSignal();
  const records =
    names.length > 0
      ? await Promise.all([...new Set(names)].map((name) => known(state, name)))
      : await deps.select({ all, ...(group === undefined ? {} : { group }) });
  if (records === undefined) throw new UsageError(`there is no group ${group}`);
  const results = await deps.check(records, stop.signal);
  if (format === 'json') return stdout.line(JSON.stringify(results, undefined, 2));
  if (results.length === 0) return stderr.line('no workloads');
  const rows = results.map((result) => [result.workload_name, result.status, explain(result)]);
  for (const line of columns([['NAME', 'STATUS', 'ABOUT'], ...rows])) stdout.line(printable(line));
}

/** Flags of `toolmgr upgrade apply`. */
export interface ApplyFlags {
  readonly env: Readonly<Record<string, string>>;
  readonly secret: readonly string[];
  readonly to?: string;
  readonly format: 'text' | 'json';
}

/** `toolmgr upgrade apply`. @throws UsageError when nothing was changed for a reason that the user can mend */
export async function applyOne(name: string, { env, secret, to: version, format }: ApplyFlags): Promise<void> {
  const wrong = secret.find((reference) => !secretReference.safeParse(reference).success);
  if (wrong !== undefined) throw new UsageError('--secret: expected a reference such as NAME,target=VARIABLE');
  const state = stateDir();
  await known(state, name);
  using stop = stopSignal();
  const report = (step: string): void => {
    if (format === 'text') stderr.line(stderr.dim(printable(step)));
  };
  const applied = await upgradeDeps(state).apply(
    name,
    { version, env, secrets: secret },
    { signal: stop.signal, report },
  );
  if (applied.kind === 'gone') throw new UsageError(await unknownWorkload(state, name));
  if (applied.kind === 'refused') throw new UsageError(`${name} was not changed: ${applied.reason}`);
  if (applied.kind === 'failed') {
    stderr.line(`${stderr.red('toolmgr:')} ${printable(`${name} was not upgraded: ${applied.reason}`)}`);
    process.exitCode = EXIT_CODES.failed.code;
    return;
  }
  const { result } = applied;
  if (applied.kind === 'applied') {
    for (const warning of applied.warnings) stderr.line(`${stderr.yellow('warning')} ${printable(warning)}`);
  }
  const isRefused = applied.kind === 'unchanged' && result.status !== 'up-to-date';
  if (isRefused) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') return stdout.line(JSON.stringify(result, undefined, 2));
  (isRefused ? stderr : stdout).line(
    printable(`${name}: ${applied.kind === 'applied' ? result.reason : `${result.status}, ${explain(result)}`}`),
  );
  for (const [what, names] of Object.entries(result.tools_drift ?? {})) {
    if (names.length > 0) stdout.line(printable(`tools ${what}: ${names.join(', ')}`));
  }
}

function explain({ status, current_image: current = '', candidate_image: candidate, reason }: UpgradeCheck): string {
  if (status === 'upgrade-available') return `${current} -> ${candidate}`;
  return reason ?? current;
}

async function known(state: string, name: string) {
  const record = await readWorkload(state, name);
  if (record === undefined) throw new UsageError(await unknownWorkload(state, name));
  return record;
}
