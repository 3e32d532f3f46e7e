import { definePlugin, explainCause, GatewayFault, type Refusal } from '@toolmgr/core';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { type Answers, createAnswers } from './answers.ts';
import { decisionPointConfig } from './config.ts';
import { createListFilter, isDispatcher } from './list-filter.ts';
import { createPolicyServer, type PolicyServer } from './policy-server.ts';
import { questionOfCall, subjectOf } from './questions.ts';

const ADDRESS = 'authorization/decision-point';

/** Asks a policy server about each call, and filters lists by its answers. What it cannot decide is denied. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'asks a policy server (AuthZEN or Open Policy Agent) about each call, and filters lists by its answers',
  contractKey: 'decisionPoint',
  config: decisionPointConfig,
  apply(core, config) {
    const { name } = core.server;
    let running: Running | undefined;
    const started = (): Running => {
      if (running === undefined) throw new GatewayFault('PLUGIN_FAILED', `${ADDRESS} has not started, or has stopped`);
      return running;
    };
    core.hooks.authorize.tapPromise(ADDRESS, async (call): Promise<Refusal | undefined> => {
      if (isDispatcher(call.target)) return undefined;
      const question = questionOfCall(call, name, config);
      if (question === 'too large') return TOO_LARGE;
      try {
        const [isAllowed] = await started().answers.to([question], call.signal);
        return isAllowed === true ? undefined : DENIED;
      } catch (cause) {
        if (call.cancel.aborted) throw cause;
        core.log.error('the policy server gives no decision, so a call is refused', { reason: explainCause(cause) });
        return UNDECIDED;
      }
    });
    // a failure is an error of the list, and not an empty list that a client keeps
    core.hooks.advertise.tapPromise(ADDRESS, async (entries, caller) =>
      started().filter(entries, subjectOf(caller, config.claims)),
    );
    core.hooks.starting.tapPromise(ADDRESS, async () => {
      const { policyTokenEnv } = config;
      const token =
        policyTokenEnv === undefined
          ? undefined
          : await readSecret(core.slots, policyTokenEnv, 'decisionPoint.policyTokenEnv');
      const server = createPolicyServer(config, token);
      const answers = createAnswers(server, config.cacheFor, core.now);
      running = { server, answers, filter: createListFilter(answers, config.cacheFor, name, core.now) };
    });
    core.hooks.stopping.tapPromise(ADDRESS, async () => {
      const { server } = running ?? {};
      running = undefined;
      await server?.close();
    });
  },
});

interface Running {
  readonly server: PolicyServer;
  readonly answers: Answers;
  readonly filter: ReturnType<typeof createListFilter>;
}

const DENIED: Refusal = { refused: true, status: 403, reason: 'denied by authorization policy' };
const TOO_LARGE: Refusal = {
  refused: true,
  status: 403,
  reason: 'the arguments are too large for the authorization policy: 64 KiB at most',
};
const UNDECIDED: Refusal = {
  refused: true,
  status: 503,
  reason: 'the policy server gives no decision now; try again later',
  retryAfterMs: 5_000,
};
