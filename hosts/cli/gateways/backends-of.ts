import { nearest } from '@toolmgr/core';
import { matching, oneOf } from '../../shared/running/choose-gateway.ts';
import { fetchStatus, type GatewayStatus } from '../../shared/running/control-client.ts';
import { type GatewayRecord, readRunning } from '../../shared/running/gateway-record.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** A gateway and what it said; `problem` when it did not answer. */
export interface AskedGateway {
  readonly record: GatewayRecord;
  readonly status?: GatewayStatus;
  readonly problem?: string;
}

/** Asks all gateways that `which` names, at once. */
export async function askGateways(which: string | undefined): Promise<readonly AskedGateway[]> {
  const found = matching(await readRunning(), which);
  return Promise.all(
    found.map(async (record) => {
      try {
        return { record, status: await fetchStatus(record) };
      } catch (cause) {
        return { record, problem: cause instanceof Error ? cause.message : String(cause) };
      }
    }),
  );
}

/**
 * The gateway that has a backend; `undefined` when no gateway runs that `which` could mean.
 * @throws UsageError when several have it, or none
 */
export async function gatewayWith(backend: string, which: string | undefined): Promise<GatewayRecord | undefined> {
  const asked = await askGateways(which);
  if (asked.length === 0 && which === undefined) return undefined;
  if (asked.length === 0) return oneOf([], which);
  const having = asked.filter(({ status }) => status?.backends.some(({ name }) => name === backend));
  if (having.length > 0)
    return oneOf(
      having.map(({ record }) => record),
      which,
    );
  const known = asked.flatMap(({ status }) => status?.backends.map(({ name }) => name) ?? []);
  const hint = nearest(backend, known);
  const advice = hint === undefined ? ` (known: ${known.join(', ') || 'none'})` : `, did you mean ${hint}?`;
  const unreachable = asked.flatMap(({ problem }) => (problem === undefined ? [] : [`; ${problem}`]));
  throw new UsageError(`no running gateway has a backend ${backend}${advice}${unreachable.join('')}`);
}
