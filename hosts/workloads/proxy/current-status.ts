import { type BackendState, definePlugin, explainCause, type Plugin } from '@toolmgr/core';
import { type WorkloadState, workloadChanged } from '@toolmgr/plugins/kit/extension-points';
import type { StatusChange } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import type { Wake } from '../../shared/wake.ts';

/** What the proxy writes about a workload that it serves. */
export type CurrentStatus = Pick<StatusChange, 'status' | 'message' | 'restarts'>;

/**
 * The status of a workload that has answered once: what its runtime says about its program or container comes first, then
 * what the gateway knows about the connection. Pure.
 */
export function currentStatus(backend: BackendState, runtime: WorkloadState | undefined): CurrentStatus {
  const restarts = runtime === undefined || runtime.restarts === 0 ? {} : { restarts: runtime.restarts };
  if (runtime !== undefined && (runtime.status === 'starting' || runtime.status === 'unhealthy')) {
    return { status: runtime.status, ...messageOf(runtime.message), ...restarts };
  }
  const login = loginStatus(backend);
  if (login !== undefined) return { ...login, ...restarts };
  const { status, cause } = backend;
  if (status === 'unavailable') return { status: 'unhealthy', ...messageOf(cause?.message), ...restarts };
  if (status === 'unauthenticated') return { status, ...messageOf(cause?.message), ...restarts };
  return { status: 'running', ...restarts };
}

/** What the strategy `oauth_client` says about the tokens of the workload, when they cannot be used. */
export function loginStatus({ health, backend }: BackendState): CurrentStatus | undefined {
  if (health?.errorCategory === 'unauthenticated') {
    return { status: 'unauthenticated', message: `a new login is needed: toolmgr start ${backend.name}` };
  }
  if (health?.errorCategory === 'scope_needed') {
    return { status: 'running', message: `a tool needs a login with further scopes: toolmgr restart ${backend.name}` };
  }
  if (health?.errorCategory !== 'auth_retrying') return undefined;
  return { status: 'auth_retrying', message: 'its access token cannot be refreshed now; it is tried again' };
}

function messageOf(message: string | undefined) {
  return message === undefined ? {} : { message: explainCause(message) };
}

/** A plugin that keeps what the runtime of the workload said last. It wakes who waits for this or for a change of the backend. */
export function watchRuntime(wake: Wake): { readonly plugin: Plugin; latest(): WorkloadState | undefined } {
  let latest: WorkloadState | undefined;
  const plugin = definePlugin({
    address: 'run/workload-state',
    summary: 'keeps the state of a workload for its status file',
    config: z.strictObject({}).prefault({}),
    apply(core) {
      core.hook(workloadChanged).tap('run/workload-state', (state) => {
        latest = state;
        wake.now();
      });
      core.hooks.backendChanged.tap('run/workload-state', () => wake.now());
    },
  });
  return { plugin, latest: () => latest };
}
