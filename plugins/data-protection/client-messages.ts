import { type Call, type ClientContext, callWith, type RawJson, RawObject, type Refusal } from '@toolmgr/core';
import type { Guard, Searched } from './guard.ts';
import type { Scope } from './scopes.ts';

/**
 * The call with a client whose messages during the call are protected: notifications (progress, logs) and questions (elicitation,
 * sampling) of the backend by the rules for results, answers by those for arguments.
 *
 * A notification that a rule blocks is left out; a question or an answer that one blocks is an error for the backend.
 */
export function withProtectedMessages(
  guard: Guard,
  call: Call,
  sent: Scope | undefined,
  answered: Scope | undefined,
): Call {
  const { client } = call;
  const { request } = client;
  const told = (params: RawJson) =>
    answered === undefined ? { value: params } : searched(guard, call, answered, params);
  const replied = (result: RawJson) => (sent === undefined ? { value: result } : searched(guard, call, sent, result));
  const ask: ClientContext['request'] =
    request &&
    (async (method, params, signal) => {
      const question = told(params);
      if ('refusal' in question) return { error: refusedError(question.refusal) };
      const answer = await request(method, question.value, signal);
      if ('error' in answer) return answer;
      const reply = replied(answer.result);
      return 'refusal' in reply ? { error: refusedError(reply.refusal) } : { result: reply.value };
    });
  const notify: ClientContext['notify'] = (method, params) => {
    const message = told(params);
    if ('value' in message) client.notify(method, message.value);
  };
  return callWith(call, { client: { ...client, notify, ...(ask && { request: ask }) } });
}

function searched(guard: Guard, call: Call, scope: Scope, params: RawJson): Searched<RawJson> {
  return guard.search(call, scope, (search) => {
    const before = RawObject.parse(params);
    let members = before;
    for (const key of before.keys()) {
      const value = before.get(key);
      if (value === undefined || key === 'progressToken') continue;
      const after = search.json(value);
      if (after !== value) members = members.with(key, after);
    }
    return members.toBytes();
  });
}

function refusedError({ status, reason }: Refusal) {
  return { code: status, message: reason };
}
