import type { Era, JsonObject, PlanInput, Plugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';

export const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
/** The only policy that permits `pay`. */
export const PAYING = '@approval("This pays an invoice") permit(principal, action, resource == Tool::"pay");';
const READING = 'permit(principal, action, resource == Tool::"list");';

export interface More {
  readonly policies?: readonly string[];
  readonly plugins?: PlanInput['plugins'];
  readonly plan?: Partial<PlanInput>;
  readonly own?: readonly Plugin[];
}

export const gatewayTo = (
  far: FakeServer,
  { policies = [PAYING, READING], plugins = [], plan = {}, own = [] }: More = {},
) =>
  testGateway({
    plugins: [...own],
    backends: { far },
    catalogue,
    plan: {
      ...plan,
      plugins: [{ use: 'authorization/cedar', with: { policies: [...policies] } }, ...plugins],
    },
  });

export const bank = (eras?: readonly Era[]) => fakeServer(eras).tool('pay', 'paid').tool('list', 'listed');

/** A person who answers with `confirm`, and the questions that were shown. */
export function person(confirm: boolean) {
  const asked: string[] = [];
  const answer = (_: string, { message }: JsonObject): JsonObject => {
    asked.push(String(message));
    return { action: 'accept', content: { confirm } };
  };
  return { asked, capabilities: { elicitation: {} }, answer };
}

export const callsOf = (far: FakeServer) => far.received.filter(({ method }) => method === 'tools/call');
export const told = async (reply: Promise<JsonObject>): Promise<string> => JSON.stringify(await reply.catch(String));
