import { hostname } from 'node:os';
import { explainCause, GatewayFault, type Log, present } from '@toolmgr/core';
import { createApi, inClusterConnection, type PodSection, podSection } from '@toolmgr/plugins/kit/kubernetes';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import type { Served } from '../../http/listen.ts';
import type { VmcpConfig } from '../config-schema.ts';
import { type DrainOptions, drain } from './drain.ts';
import { publishReports } from './publish-reports.ts';
import { type ReportedGateway, reportOf } from './report-of.ts';

/** A pod of a VirtualMCPServer. */
export interface Pod {
  /** Serves after SIGTERM until clients have moved, see {@link drain}. */
  drain(gateway: DrainOptions['gateway'], served: Pick<Served, 'closeAfterResponses'>): Promise<void>;
  /** Keeps SIGHUP from ending the process: it reloads nothing, because a rollout changes the configuration. */
  ignoreHangup(log: Log, signal: AbortSignal): void;
  /** Publishes reports until `signal` aborts. Never rejects. */
  report(gateway: () => ReportedGateway, log: Log, signal: AbortSignal): Promise<void>;
}

/** The pod that the file describes. */
export function podOf(config: VmcpConfig, env: NodeJS.ProcessEnv): Pod {
  const read = podSection.safeParse(sectionOf(config));
  if (!read.success) throw new GatewayFault('PLAN_INVALID', 'kubernetes: the section is invalid'); // the file was checked
  const { drainTime, report: configMap, serviceAccount } = read.data;
  return {
    ignoreHangup(log, signal) {
      const onHangup = (): void => log.warn('SIGHUP reloads nothing in a pod: a rollout changes its configuration');
      process.on('SIGHUP', onHangup);
      signal.addEventListener('abort', () => process.off('SIGHUP', onHangup), { once: true });
    },
    drain: (gateway, served) => drain({ gateway, served, ms: drainTime }),
    async report(gateway, log, signal) {
      if (configMap === undefined) return;
      try {
        await publish({ configMap, serviceAccount }, config, env, { gateway, log, signal });
      } catch (cause) {
        log.error('the pod does not report', { cause: explainCause(cause) });
      }
    },
  };
}

async function publish(
  { configMap, serviceAccount }: { readonly configMap: string } & Pick<PodSection, 'serviceAccount'>,
  config: VmcpConfig,
  env: NodeJS.ProcessEnv,
  { gateway, log, signal }: { gateway: () => ReportedGateway; log: Log; signal: AbortSignal },
): Promise<void> {
  const connection = await inClusterConnection({ env: process.env, ...present({ folder: serviceAccount }) });
  await using api = createApi(connection);
  const checksum = env.TOOLMGR_CONFIG_CHECKSUM ?? '';
  await publishReports({
    ...{ api, configMap, log, signal },
    namespace: connection.namespace ?? 'default',
    pod: (env.POD_NAME || hostname()).slice(0, MAX_MANAGER),
    intervalMs: reportingIntervalOf(config),
    report: () => reportOf(gateway(), checksum, Date.now()),
  });
}

function sectionOf(config: VmcpConfig): unknown {
  return (config as VmcpConfig & { readonly kubernetes?: unknown }).kubernetes ?? {};
}

/** Source: vmcp spec §2 operational, `statusReportingInterval` default 30s. */
function reportingIntervalOf({ operational }: VmcpConfig): number {
  const { failureHandling } = (operational ?? {}) as {
    readonly failureHandling?: { readonly statusReportingInterval?: string };
  };
  return durationMs(failureHandling?.statusReportingInterval ?? '') ?? INTERVAL_MS;
}

const INTERVAL_MS = 30_000;
const MAX_MANAGER = 128; // characters of a field manager
