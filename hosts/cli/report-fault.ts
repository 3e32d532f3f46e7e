import { causesOf, explainCause, GatewayFault, missingPackage } from '@toolmgr/core';
import { storageFault } from '@toolmgr/plugins/kit/workloads';
import { EXIT_CODES } from '../shared/exit-codes.ts';
import { stderr } from '../shared/terminal.ts';

/** Prints why a command failed and returns the exit code. A cause that is no fault of the product comes with its stack. */
export function reportFault(cause: unknown): number {
  const { code } = EXIT_CODES.failed;
  if (cause instanceof GatewayFault) {
    stderr.line(`${stderr.red('toolmgr:')} ${cause.message}`);
    for (const reason of reasonsOf(cause)) stderr.line(`  because: ${reason}`);
    if (process.env.TOOLMGR_DEBUG) stderr.line(stderr.dim(`${cause.code}: ${cause.stack ?? ''}`));
    return code;
  }
  const missing = missingPackage(cause);
  if (missing !== undefined) {
    stderr.line(`${stderr.red('toolmgr:')} ${missing}`);
    return code;
  }
  const storage = storageFault(cause);
  stderr.line(`${stderr.red('toolmgr:')} ${storage ?? explainCause(cause)}`);
  if (storage === undefined && cause instanceof Error && cause.stack !== undefined)
    stderr.line(stderr.dim(cause.stack));
  return code;
}

/** The causes of a fault, outermost first, without those that an earlier message contains. */
function reasonsOf(fault: GatewayFault): string[] {
  const [first = '', ...causes] = causesOf(fault);
  const reasons = [first];
  for (const cause of causes) if (!reasons.some((reason) => reason.includes(cause))) reasons.push(cause);
  return reasons.slice(1);
}
