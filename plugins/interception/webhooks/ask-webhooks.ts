import { type Call, type Core, GatewayFault, type Refusal } from '@toolmgr/core';
import type { WebhooksConfig } from './config.ts';
import { BadPatch, patchedCall } from './patch.ts';
import { type PayloadContext, payloadOf } from './payload.ts';
import { DENYING_STATUS, type Verdict } from './verdict.ts';
import { createWebhook, type NoVerdict, type Webhook } from './webhook.ts';

/** All webhooks of a gateway. */
export interface Webhooks {
  start(): Promise<void>;
  /** Asks the mutating webhooks in order; each gets the call as the one before left it. @throws GatewayFault PLUGIN_FAILED */
  mutate(call: Call): Promise<Call | Refusal>;
  /** Asks the validating webhooks in order until one denies. */
  validate(call: Call): Promise<Refusal | undefined>;
  stop(): Promise<void>;
}

/** Makes the webhooks of a configuration; opens nothing. */
export function createWebhooks(
  core: Pick<Core, 'log' | 'now' | 'slots' | 'server'>,
  address: string,
  { mutating, validating, transport }: WebhooksConfig,
): Webhooks {
  const context: PayloadContext = { serverName: core.server.name, transport };
  const make = (kind: 'mutating' | 'validating', list: WebhooksConfig['mutating']) =>
    list.map((settings, index) => createWebhook(core, kind, settings, `${address}: ${kind}[${index}]`));
  const mutators = make('mutating', mutating);
  const validators = make('validating', validating);
  const all = [...mutators, ...validators];
  const denied = (call: Call, { settings: { name } }: Webhook, { message }: Extract<Verdict, { allowed: false }>) =>
    core.log.info('a webhook denied a call', {
      webhook: name,
      call: call.id,
      name: call.name,
      message: message?.slice(0, MAX_MESSAGE),
    });
  return {
    start: async () => {
      for (const webhook of all) await webhook.start();
    },
    async mutate(asked) {
      let call = asked;
      for (const webhook of mutators) {
        const payload = payloadOf(call, context);
        const verdict = await webhook.ask(payload, call.signal);
        if (isNone(verdict)) {
          const refusal = refusalFor(verdict, webhook, 'mutating');
          if (refusal !== undefined) return refusal;
          continue;
        }
        if (!verdict.allowed) {
          denied(call, webhook, verdict);
          return verdict.status === DENYING_STATUS ? UNPROCESSABLE : DENIED;
        }
        if (verdict.patch.length === 0) continue;
        try {
          call = patchedCall(call, payload.request, verdict.patch as Parameters<typeof patchedCall>[2]);
          webhook.worked();
        } catch (cause) {
          if (!(cause instanceof BadPatch)) throw cause;
          refusalFor(webhook.failed(`its patch is not valid: ${cause.message}`), webhook, 'mutating');
        }
      }
      return call;
    },
    async validate(call) {
      if (validators.length === 0) return undefined;
      const payload = payloadOf(call, context);
      for (const webhook of validators) {
        const verdict = await webhook.ask(payload, call.signal);
        if (isNone(verdict)) {
          const refusal = refusalFor(verdict, webhook, 'validating');
          if (refusal !== undefined) return refusal;
          continue;
        }
        if (verdict.allowed) continue;
        denied(call, webhook, verdict);
        return DENIED;
      }
      return undefined;
    },
    stop: async () => {
      await Promise.all(all.map((webhook) => webhook.close()));
    },
  };
}

function isNone(answer: Verdict | NoVerdict): answer is NoVerdict {
  return 'failed' in answer || 'tooLarge' in answer;
}

/** `undefined`: the call continues as it is. @throws GatewayFault PLUGIN_FAILED for a mutating webhook with the policy `fail` */
function refusalFor(why: NoVerdict, { settings }: Webhook, kind: 'mutating' | 'validating'): Refusal | undefined {
  if ('tooLarge' in why) return TOO_LARGE;
  if (settings.failure_policy === 'ignore') return undefined;
  if (kind === 'validating') return UNDECIDED;
  throw new GatewayFault('PLUGIN_FAILED', `the webhook ${settings.name} gave no valid answer`);
}

/** The message of a webhook is for the operator and not part of any response. */
const DENIED: Refusal = { refused: true, status: 403, reason: 'denied by policy' };
const UNPROCESSABLE: Refusal = { refused: true, status: DENYING_STATUS, reason: 'denied by policy' };
const UNDECIDED: Refusal = { refused: true, status: 403, reason: 'denied by policy: it could not be checked' };
const TOO_LARGE: Refusal = { refused: true, status: 413, reason: 'the request is too large to be checked' };
const MAX_MESSAGE = 500;
