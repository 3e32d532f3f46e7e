import type { PlanInput, PlanPart, StrategyUse } from '@toolmgr/core';
import type { WorkloadSpec } from './runtimes.ts';
import type { RunConfig } from './state/run-config/run-config.ts';

/** What the flags of a workload mean for a plugin: `fromFlags` in a file that is loaded without the plugin. */
export interface FromFlags {
  /** How problems of its options, or of those of its strategy, begin: `--audit-config`. Absent: no flag is to blame. */
  readonly where?: string;
  /** What the plugin adds to the plan of the proxy, for flags as they are stored. `use` is the plugin's address. */
  plan(config: RunConfig, start: WorkloadStart, use: string): FlagsPart;
  /** What is wrong with options that its schema allows: a path below `where`, and why. */
  problems?(options: unknown, plan: PlanInput): readonly string[];
}

/** What flags add to the plan of a workload's proxy. */
export interface FlagsPart extends PlanPart {
  /** How requests to the server get credentials, when the plugin of this name in the slot `authStrategies` is to add them. */
  readonly strategy?: StrategyUse;
  /** What is put around the strategy, such as fixed headers. */
  strategyAround?(inner: StrategyUse): StrategyUse;
  /** What a runtime starts, beside what all workloads have. */
  readonly workload?: Partial<WorkloadSpec> & { readonly runtime: string };
}

/** One start of a workload. */
export interface WorkloadStart {
  /** Folder of the workloads. */
  readonly state: string;
  /** File for the output of its program. */
  readonly logFile: string;
  /** A program that ends is started again. */
  readonly restartsProgram: boolean;
  /** Time limit until it answers, in milliseconds. */
  readonly deadlineMs: number;
  /** Values of the secrets of the workload, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Variables of its program. */
  readonly env: Readonly<Record<string, string>>;
}
