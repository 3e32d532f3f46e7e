import { GatewayFault, isObject, type Secret } from '@toolmgr/core';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import type { DecisionPointConfig } from './config.ts';
import type { Question } from './questions.ts';

/** The policy server. The operator configures it, so private addresses are allowed. */
export interface PolicyServer {
  /** One decision for each question, in order. @throws GatewayFault REMOTE_* without a complete and valid answer */
  decide(questions: readonly Question[], signal?: AbortSignal): Promise<readonly boolean[]>;
  close(): Promise<void>;
}

/** Questions of one AuthZEN request. */
const MAX_BATCH = 100;
/** Requests at once for one list. */
const MAX_AT_ONCE = 8;
const MAX_CONNECTIONS = 32;

/** Creates the client; `token` authenticates the gateway. */
export function createPolicyServer(
  { protocol, url, timeout }: Pick<DecisionPointConfig, 'protocol' | 'url' | 'timeout'>,
  token: Secret | undefined,
): PolicyServer {
  const http = createRemoteHttp({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs: timeout,
    connections: MAX_CONNECTIONS,
  });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal().trim()}` }),
  };
  const { size, place, body, decisions } = PROTOCOLS[protocol];
  const ask = async (questions: readonly Question[], signal: AbortSignal | undefined): Promise<readonly boolean[]> => {
    const at = place(url.replace(/\/+$/, ''), questions.length);
    const answer = await http.send(at, { method: 'POST', headers, body: body(questions), signal });
    const decided = decisions(http.json(answer, at), questions.length);
    if (decided !== undefined) return decided;
    throw new GatewayFault('REMOTE_UNAVAILABLE', `${at}: answered no decision for each question`);
  };
  return {
    async decide(questions, signal) {
      const batches: (readonly Question[])[] = [];
      for (let at = 0; at < questions.length; at += size) batches.push(questions.slice(at, at + size));
      const decided: (readonly boolean[])[] = [];
      let started = 0;
      const next = async (): Promise<void> => {
        for (let at = started++; at < batches.length; at = started++) {
          decided[at] = await ask(batches[at] as readonly Question[], signal);
        }
      };
      await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, batches.length) }, next));
      return decided.flat();
    },
    close: () => http.close(),
  };
}

/** How questions are asked in one protocol; `decisions` is `undefined` for an invalid answer. */
interface Protocol {
  /** Questions of one request. */
  readonly size: number;
  place(url: string, questions: number): string;
  body(questions: readonly Question[]): string;
  decisions(answer: Readonly<Record<string, unknown>>, questions: number): readonly boolean[] | undefined;
}

const PROTOCOLS: Readonly<Record<DecisionPointConfig['protocol'], Protocol>> = {
  /** OpenID AuthZEN Authorization API 1.0: Access Evaluation, and Access Evaluations for lists. */
  authzen: {
    size: MAX_BATCH,
    place: (url, questions) => `${url}/access/v1/evaluation${questions === 1 ? '' : 's'}`,
    body: (questions) =>
      questions.length === 1
        ? objectOf(questions[0] as Question)
        : `{"evaluations":[${questions.map(objectOf).join(',')}],"options":{"evaluations_semantic":"execute_all"}}`,
    decisions(answer, questions) {
      const all = questions === 1 ? [answer] : answer.evaluations;
      if (!Array.isArray(all) || all.length !== questions) return undefined;
      const decided = all.map((one) => (isObject(one) ? one.decision : undefined));
      return decided.every((decision) => typeof decision === 'boolean') ? decided : undefined;
    },
  },
  /** Open Policy Agent, Data API: the rule is `true`, or an object with `allow`. Without a result it is undefined: a denial. */
  opa: {
    size: 1,
    place: (url) => url,
    body: ([question]) => `{"input":${objectOf(question as Question)}}`,
    decisions({ result }) {
      const allow = isObject(result) ? result.allow : (result ?? false);
      return typeof allow === 'boolean' ? [allow] : undefined;
    },
  },
};

function objectOf({ subject, action, resource, context }: Question): string {
  return `{"subject":${subject},"action":${action},"resource":${resource},"context":${context}}`;
}
