import { definePlugin, type Plugin, UserActionRequired } from '@toolmgr/core';
import { z } from 'zod';

/** A strategy that needs an account which the person connects in a browser. */
export interface ConnectLater {
  readonly plugin: Plugin;
  /** Whether the account is connected; the tests' browser. */
  isConnected: boolean;
  /** Credentials that were added so far. */
  authorized: number;
  /** Whether the gateway's own requests, which read the lists, are sent without a credential. */
  listsAreFree: boolean;
  /** Called before a request of a caller is authorized. */
  before: () => void;
}

export const LINK = 'https://gateway.test/oauth/connect?ticket=1';
export const SENTENCE = 'connect your GitHub account';

/** Makes the strategy, under the name that test gateways use for all backends. */
export function connectLater(): ConnectLater {
  const later: ConnectLater = {
    isConnected: false,
    authorized: 0,
    listsAreFree: true,
    before: () => {},
    plugin: definePlugin({
      address: 'test/connect-later',
      config: z.strictObject({}),
      apply({ slots }) {
        slots.authStrategies.register('unauthenticated', {
          prepare: async () => ({
            perCaller: true,
            apply({ headers }, { purpose }) {
              if (purpose === 'discovery' && later.listsAreFree) return;
              if (purpose !== 'discovery') later.before();
              if (purpose === 'discovery' || !later.isConnected) throw new UserActionRequired(SENTENCE, LINK);
              later.authorized++;
              headers.authorization = 'Bearer of this person';
            },
          }),
        });
      },
    }),
  };
  return later;
}
