import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createLog, type JsonObject, untilAborted } from '@toolmgr/core';
import { type Connection, inClusterConnection, isInCluster } from '@toolmgr/plugins/kit/kubernetes';
import { stopSignal } from '../shared/stop-signal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { VERSION } from '../shared/version.ts';
import { logUncaughtErrors } from './log-uncaught-errors.ts';
import type { ControllerLog } from './machinery/controller.ts';
import { addressFrom, type ListenAddress } from './machinery/http-pages.ts';
import { startOperator } from './operator.ts';
import { settingsFrom } from './settings.ts';

/** Flags of `toolmgr operator`. */
export interface OperatorFlags {
  readonly kubeconfig?: string;
  readonly leaderElect?: boolean;
  readonly concurrency: number;
  readonly metricsBindAddress?: string;
  readonly healthProbeBindAddress?: string;
}

/**
 * Runs an operator until a signal stops it.
 * @throws UsageError with a message for the user, also when the Lease is lost
 */
export async function runOperator(flags: OperatorFlags): Promise<void> {
  const isPod = flags.kubeconfig === undefined && isInCluster(process.env);
  const connection = await connect(flags.kubeconfig, isPod);
  const own = {
    namespace: connection.namespace ?? 'default',
    // another process on this machine is another replica
    identity: isPod ? hostname() : `${hostname()}-${randomBytes(4).toString('hex')}`,
  };
  const settings = settingsFrom(process.env, own);
  const metrics = addressOf('--metrics-bind-address', flags.metricsBindAddress, isPod, 8080);
  const probes = addressOf('--health-probe-bind-address', flags.healthProbeBindAddress, isPod, 8081);
  const log = controllerLog();
  using _ = logUncaughtErrors(log);
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  await using operator = await startOperator({
    ...{ connection, settings, metrics, probes, log },
    leaderElect: flags.leaderElect === true,
    concurrency: flags.concurrency,
  });
  log.info('the operator runs', {
    version: VERSION,
    server: connection.server,
    namespaces: settings.namespaces.length === 0 ? 'all' : settings.namespaces.join(','),
    identity: settings.identity,
  });
  const lost = await Promise.race([operator.lost, untilAborted(stop.signal)]);
  await operator.stop();
  if (lost !== undefined) {
    throw new UsageError(`this replica may not reconcile any more and ends: ${lost}`);
  }
}

async function connect(kubeconfig: string | undefined, isPod: boolean): Promise<Connection> {
  if (!isPod) return (await import('./connection/kubeconfig.ts')).kubeconfigConnection(kubeconfig);
  try {
    return await inClusterConnection({ env: process.env });
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

/** In a pod, probes and Prometheus come from other addresses. */
function addressOf(flag: string, text: string | undefined, isPod: boolean, port: number): ListenAddress | 'none' {
  if (text === undefined) return { host: isPod ? undefined : '127.0.0.1', port };
  const address = addressFrom(text);
  if (address !== undefined) return address;
  throw new UsageError(`${flag}: expected an address such as :${port} or 127.0.0.1:${port}, or 0, but got '${text}'`);
}

/** JSON lines on stderr. */
function controllerLog(): ControllerLog {
  const log = createLog('info', (line) => process.stderr.write(line));
  return {
    info: (message, fields) => log.info(message, fields as JsonObject),
    warn: (message, fields) => log.warn(message, fields as JsonObject),
    error: (message, fields) => log.error(message, fields as JsonObject),
  };
}
