import { ownCommand } from '../../shared/own-command.ts';
/** What a check found. `warn`: something works only in part, or not at all for some servers. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly says: string;
  /** What to do; absent when it is ok. */
  readonly fix?: string;
}

/** One check of `toolmgr doctor`. */
export interface Check {
  readonly name: string;
  /** Time limit instead of that of all checks. */
  readonly limitMs?: number;
  /** Runs beside the others; `signal` aborts when its time is over. */
  run(signal: AbortSignal): Promise<Finding | readonly Finding[]>;
}

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  readonly check: string;
}

/** Time limit of one check. */
const CHECK_MS = 3_000;

/** Runs all checks at once. One that fails itself, or takes too long, is a warning. */
export async function runChecks(checks: readonly Check[], allMs: number = CHECK_MS): Promise<readonly NamedFinding[]> {
  const found = await Promise.all(
    checks.map(async ({ name, run, limitMs = allMs }) => {
      const signal = AbortSignal.timeout(limitMs);
      const late = new Promise<Finding>((resolve) => {
        const warn = () =>
          resolve({
            level: 'warn',
            says: `no answer in ${limitMs / 1000} s`,
            fix: `run ${ownCommand('doctor')} again when the machine is less busy`,
          });
        signal.addEventListener('abort', warn, { once: true });
      });
      const findings = await Promise.race([run(signal).catch(failedCheck), late]);
      return [findings].flat().map((finding) => ({ check: name, ...finding }));
    }),
  );
  return found.flat();
}

function failedCheck(cause: unknown): Finding {
  const says = `could not be checked: ${cause instanceof Error ? cause.message : String(cause)}`;
  return { level: 'warn', says, fix: 'check the folder or program named in the message' };
}

/** Shorthands. */
export const ok = (says: string): Finding => ({ level: 'ok', says });
export const warn = (says: string, fix: string): Finding => ({ level: 'warn', says, fix });
export const fail = (says: string, fix: string): Finding => ({ level: 'fail', says, fix });
export const skipped = (says: string): Finding => ({ level: 'skipped', says });
