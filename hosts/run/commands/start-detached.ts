import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { stderr } from '../../shared/terminal.ts';
import { INTERRUPTED } from '../../workloads/planning/launch.ts';
import type { FailedStart } from '../../workloads/planning/start.ts';
import type { StartWork } from '../../workloads/planning/work.ts';

/** Runs a start that prints its seconds and ends with Ctrl-C. */
export async function withStartProgress<T>(name: string, act: (work: StartWork) => Promise<T>): Promise<T> {
  const stop = stopSignal();
  let isShown = false;
  const onSecond = (seconds: number): void => {
    isShown = true;
    if (stderr.isTty) process.stderr.write(`\r${name} is starting … ${seconds} s`);
    else if (seconds % LINE_SECONDS === 0) stderr.line(`${name} is still starting (${seconds} s)`);
  };
  try {
    return await act({ ...terminalWork(name, stop.signal), onSecond });
  } finally {
    if (stderr.isTty && isShown) process.stderr.write(CLEAR_LINE);
    stop.release();
  }
}

/** Prints where the user logs in at the remote server of a workload. Steps are not printed. */
export function terminalWork(name: string, signal: AbortSignal): StartWork {
  return {
    signal,
    report: () => {},
    onLogin({ url, server, origin }) {
      stderr.line(`${name}: log in at ${server} in a browser:`);
      stderr.line(`  ${origin} gets the access token`);
      stderr.line(`  ${url}`);
    },
    onLoggedIn: () => stderr.line(`${name}: you are logged in`),
    onWarning: (sentence) => stderr.line(sentence),
  };
}

/** Prints why a workload does not run and sets the exit code. */
export function printFailure(name: string, { reason, lines }: FailedStart): void {
  if (reason === INTERRUPTED) {
    stderr.line(`${name} was not started`);
    process.exitCode = EXIT_CODES.interrupted.code;
    return;
  }
  stderr.line(`${stderr.red('toolmgr:')} ${name} could not be started: ${reason}`);
  for (const line of lines) stderr.line(stderr.dim(`  | ${line}`));
  process.exitCode = EXIT_CODES.failed.code;
}

const LINE_SECONDS = 10; // between progress lines when stderr is not a terminal
const CLEAR_LINE = '\r\u001b[K';
