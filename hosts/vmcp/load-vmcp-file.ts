import { dirname, resolve } from 'node:path';
import { GatewayFault, type GatewayOptions, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { planFromConfig } from './plan.ts';
import { type ReadConfig, readConfig, readConfigText } from './read-config.ts';

/** How a vmcp file is loaded. */
export interface LoadVmcpFileOptions {
  /**
   * Imports the files and packages that `plugins:` names, which runs their code, as `toolmgr vmcp serve` does. Default: `false`, and a
   * file that names any is refused.
   */
  readonly loadPlugins?: boolean;
  /**
   * Whether clients reach the server by a loopback address only; the `Host` header must then be a loopback name. Default: `true`. With
   * `false` a file without `incomingAuth` is refused.
   */
  readonly loopback?: boolean;
}

/** What `createGateway(plan, options)` needs. */
export interface LoadedVmcpFile {
  readonly plan: PlanInput;
  /** The plugins of toolmgr, and the folder of the file, where its relative paths begin. */
  readonly options: Required<Pick<GatewayOptions, 'catalogue' | 'baseDir'>>;
  /** What is probably a mistake, and what has no effect in an embedded gateway; one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads a vmcp file for a gateway inside of another server. Starts nothing, and reads no variable of the environment.
 * @throws GatewayFault PLAN_INVALID with one `file:line: path: what is wrong` per problem
 */
export async function loadVmcpFile(file: string, given: LoadVmcpFileOptions = {}): Promise<LoadedVmcpFile> {
  const { loadPlugins: loadsPlugins = false, loopback = true } = given;
  const read = await readConfig(await readConfigText(file), file, catalogue, { loadsPlugins });
  const refusal = refusalOf(read, loopback);
  if (refusal !== undefined) throw new GatewayFault('PLAN_INVALID', `${file}: ${refusal}`);
  return {
    plan: planFromConfig(read, { loopback }),
    options: { catalogue, baseDir: dirname(resolve(file)) },
    warnings: [...read.warnings, ...withoutEffect(read).map((sentence) => `${file}: ${sentence}`)],
  };
}

/** Without a plugin of the file the gateway might lack a policy: a part of the file is never left out. */
function refusalOf({ notLoaded, assumesAnonymous }: ReadConfig, loopback: boolean): string | undefined {
  if (notLoaded.length > 0) {
    return `plugins: ${notLoaded.join(', ')} would run code; loadVmcpFile loads plugins only with loadPlugins: true`;
  }
  if (assumesAnonymous && !loopback) {
    return 'incomingAuth: missing, and without it the file is for loopback only; add type oidc, or type anonymous if everyone may call';
  }
  return undefined;
}

/** Sections that the program around a gateway carries out. */
function withoutEffect({ config: { statusPages, operational } }: ReadConfig): readonly string[] {
  return [
    ...(statusPages === undefined ? [] : ['statusPages: has no effect; only toolmgr vmcp serve has these pages']),
    ...(operational?.logLevel === undefined
      ? []
      : ['operational.logLevel: has no effect; pass a log to createGateway']),
  ];
}
