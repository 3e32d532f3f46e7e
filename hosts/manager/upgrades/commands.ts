import type { JsonObject } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkload, secretReference, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { userOperations } from '../commands/user-operations.ts';
import type { UpgradeCheck } from './upgrade-result.ts';

/** What the operations answer. */
interface Answer {
  readonly result: UpgradeCheck;
}

interface Answers {
  readonly results: readonly UpgradeCheck[];
}

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
  const chosen = [...new Set(names)];
  for (const name of chosen) await known(name);
  const call = await userOperations('upgrades');
  using stop = stopSignal();
  const check = (id: string, given: JsonObject) => call(id, given, { signal: stop.signal });
  const results =
    chosen.length > 0
      ? await Promise.all(
          chosen.map(async (name) => ((await check('checkWorkloadUpgrade', { name })) as Answer).result),
        )
      : ((await check('checkWorkloadUpgrades', { all, ...(group === undefined ? {} : { group }) })) as Answers).results;
  if (format === 'json') return stdout.json(results);
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
  const { config } = await known(name);
  const before = config?.image ?? config?.process?.target;
  const call = await userOperations('upgrades');
  using stop = stopSignal();
  const report = (text: string, kind?: 'step' | 'warning'): void => {
    if (kind === 'warning') stderr.line(`${stderr.yellow('warning')} ${printable(text)}`);
    else if (format === 'text') stderr.line(stderr.dim(printable(text)));
  };
  const to = version === undefined ? {} : { version };
  const body = { ...to, env, secrets: secret };
  const answer = await call('applyWorkloadUpgrade', { name, ...body }, { signal: stop.signal, report });
  const { result } = answer as Answer;
  const isApplied = result.status === 'up-to-date' && result.current_image !== before;
  const isRefused = !isApplied && result.status !== 'up-to-date';
  if (isRefused) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') return stdout.json(result);
  (isRefused ? stderr : stdout).line(
    printable(`${name}: ${isApplied ? result.reason : `${result.status}, ${explain(result)}`}`),
  );
  for (const [what, names] of Object.entries(result.tools_drift ?? {})) {
    if (names.length > 0) stdout.line(printable(`tools ${what}: ${names.join(', ')}`));
  }
}

function explain({ status, current_image: current = '', candidate_image: candidate, reason }: UpgradeCheck): string {
  if (status === 'upgrade-available') return `${current} -> ${candidate}`;
  return reason ?? current;
}

async function known(name: string): Promise<WorkloadRecord> {
  const state = stateDir(process.env);
  const record = await readWorkload(state, name);
  if (record === undefined) throw new UsageError(await unknownWorkload(state, name));
  return record;
}
