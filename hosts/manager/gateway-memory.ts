import type { createMemoryBudget, Log } from '@toolmgr/core';

/** The memory budget of all gateways in the manager's process, made for the first of them. */
export type GatewayMemory = () => Promise<ReturnType<typeof createMemoryBudget>>;

/** `bytes` as in `--memory-budget`. The core is loaded with the first gateway: an idle manager does without. */
export function gatewayMemory(log: Log, bytes: number | undefined): GatewayMemory {
  let made: ReturnType<GatewayMemory> | undefined;
  return () => {
    made ??= import('@toolmgr/core').then(({ createMemoryBudget }) =>
      createMemoryBudget({ log, ...(bytes === undefined ? {} : { bytes }) }),
    );
    return made;
  };
}
