import type { LogFormat } from '../../shared/gateway-log/index.ts';
import type { VmcpConfig } from '../config-schema.ts';
import { PINNING } from '../lock.ts';
import type { StatusPagesConfig } from '../status-pages-schema.ts';

/** Flags of `vmcp serve`. */
export interface ServeOptions {
  readonly config?: string;
  readonly group?: string;
  readonly host: string;
  readonly port: number;
  /** Milliseconds. */
  readonly sessionTtl?: number;
  /** Bytes. */
  readonly memoryBudget?: number;
  readonly statusPort?: number;
  readonly statusTokenEnv?: string;
  readonly enableAudit?: boolean;
  /** Adds the section of the optimizer with its defaults, unless the file has it. */
  readonly optimizer?: boolean;
  /** Serves one client over standard input and output instead of listening. */
  readonly stdio?: boolean;
  /** Serves the page of the browser with the status pages. */
  readonly page?: boolean;
  /** Refuses definitions that the lock file beside the vmcp file does not have. */
  readonly frozen?: boolean;
  readonly debug?: boolean;
  readonly logFormat?: LogFormat;
}

/** The log level of the file, overridden by `--debug`. */
export function levelOf({ debug }: ServeOptions, { operational }: VmcpConfig): 'debug' | 'info' {
  return debug || operational?.logLevel === 'debug' ? 'debug' : 'info';
}

/** The section `statusPages` of the file, overridden by flags; `undefined`: the pages are public. */
export function statusPagesOf(options: ServeOptions, { statusPages }: VmcpConfig): StatusPagesConfig | undefined {
  const { statusPort, statusTokenEnv } = options;
  if (statusPort === undefined && statusTokenEnv === undefined) return statusPages;
  return {
    ...statusPages,
    ...(statusPort === undefined ? {} : { port: statusPort }),
    ...(statusTokenEnv === undefined ? {} : { tokenEnv: statusTokenEnv }),
  };
}

/** Sections that are there with their defaults where the file, or the group, lacks them. */
export function addedBy({ optimizer, frozen }: Pick<ServeOptions, 'optimizer' | 'frozen'>): readonly string[] {
  return [...(optimizer ? ['optimizer'] : []), ...(frozen ? [PINNING] : [])];
}

/** Sections that are on whatever the file says. */
export function switchedOnBy({ enableAudit }: ServeOptions): readonly string[] {
  return enableAudit ? ['audit'] : [];
}
