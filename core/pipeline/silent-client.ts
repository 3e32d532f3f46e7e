import type { ClientContext, SessionOwner } from '../contract/client-context.ts';

/** A client in code: it gets no notifications and answers no requests. It has the capabilities of its owner. */
export function silentClient(owner: SessionOwner): ClientContext {
  return {
    era: '2026-07-28',
    capabilities: owner.capabilities,
    clientInfo: undefined,
    owner,
    progressToken: undefined,
    logLevel: undefined,
    notify: () => {},
  };
}
