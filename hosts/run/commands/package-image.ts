import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { type BuildPlan, buildImage, type Engine } from '@toolmgr/plugins/workloads/container';
import { stopSignal } from '../../shared/stop-signal.ts';
import { harmless, stderr } from '../../shared/terminal.ts';
import { Interrupted } from '../../shared/usage-error.ts';
import { type BuildWatch, buildPackageImage, buildStep } from '../../workloads/planning/build-image.ts';

/**
 * Builds the image of a workload's package in the foreground, so that its progress is seen; does nothing for other workloads.
 * @throws Interrupted when Ctrl-C ended it
 * @throws UsageError when a setting of the build is wrong
 * @throws GatewayFault WORKLOAD_FAILED with the last lines of the build
 */
export async function preparePackageImage(config: RunConfig): Promise<void> {
  const image = await buildPackageImage(config, process.cwd(), withProgress);
  if (image === undefined) return;
  const { plan, built } = image;
  if (built === 'built') stderr.line(`built ${plan.tag}`);
  if (built === 'kept') {
    stderr.line(
      `${stderr.yellow('warning')} ${plan.from} could not be built again: its image of an earlier day is used`,
    );
  }
}

/**
 * Builds an image under its own or another name.
 * @throws Interrupted when Ctrl-C ended it
 * @throws GatewayFault WORKLOAD_FAILED with the last lines of the build
 */
export async function buildWithProgress(engine: Engine, plan: BuildPlan, tag: string): Promise<void> {
  await withProgress(plan, (watch) => buildImage(engine, plan, watch, tag));
}

/** Prints the progress of a build: one line that changes on a terminal, else a line for each step. Ctrl-C ends the build. */
async function withProgress<T>(plan: BuildPlan, act: (watch: BuildWatch) => Promise<T>): Promise<T> {
  for (const warning of plan.warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  const stop = stopSignal();
  let shown = '';
  const onLine = (line: string): void => {
    const step = buildStep(line);
    const text = step ?? line;
    if (stderr.isTty) return void process.stderr.write(`${CLEAR_LINE}${stderr.dim(harmless(text).slice(0, width()))}`);
    const kind = step === undefined ? line.replace(/ .*/, '') : text;
    if ((step === undefined && kind !== 'pull') || kind === shown) return;
    shown = kind;
    stderr.line(`${plan.from}: ${text.slice(0, MAX_SHOWN)}`);
  };
  try {
    return await act({ signal: stop.signal, onLine });
  } catch (cause) {
    if (!stop.signal.aborted) throw cause;
    throw new Interrupted(`the build of ${plan.from} was interrupted`);
  } finally {
    if (stderr.isTty) process.stderr.write(CLEAR_LINE);
    stop.release();
  }
}

function width(): number {
  return Math.max(20, (process.stderr.columns ?? 80) - 1);
}

const CLEAR_LINE = '\r\u001b[K';
const MAX_SHOWN = 160;
