import { ownCommand } from '../../shared/own-command.ts';
import { fetchExplanations } from '../../shared/running/control-client.ts';
import type { Explanation } from '../../shared/running/explain.ts';
import type { GatewayRecord } from '../../shared/running/gateway-record.ts';

/** How to decide about a tool that a gateway of this machine holds; `undefined` when it holds none of this name. */
export async function heldToolAdvice(name: string, record: GatewayRecord | undefined): Promise<string | undefined> {
  if (record === undefined) return undefined;
  const [told] = await fetchExplanations(record, [name]).catch(() => []);
  return told?.held === undefined ? undefined : approvalAdvice(told);
}

/** The commands for a held tool. Pure. */
export function approvalAdvice({ backend, original }: Explanation): string {
  const entry = `${backend?.name}/${original}`;
  return `look at it with ${ownCommand(`pins diff ${entry}`)}, then ${ownCommand(`pins approve ${entry}@HASH`)} with the hash that it shows`;
}
