import { type Caller, definePlugin, type Plugin } from '@toolmgr/core';
import { z } from 'zod';

/** A plugin that authenticates bearer tokens by a map from token to subject. Later additions to the map count. All have `claims`. */
export function bearerCallers(subjects: ReadonlyMap<string, string>, claims: Caller['claims'] = {}): Plugin {
  return definePlugin({
    address: 'testing/bearer-callers',
    config: z.strictObject({}),
    apply(core) {
      core.hooks.authenticate.tap('testing/bearer-callers', ({ headers }) => {
        const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
        const subject = subjects.get(token);
        return subject === undefined
          ? { refused: true, status: 401, reason: 'unknown token' }
          : callerOf(subject, token, claims);
      });
    },
  });
}

function callerOf(subject: string, token: string, claims: Caller['claims']): Caller {
  return { issuer: 'idp', subject, key: `idp\0${subject}`, claims, token: { reveal: () => token } };
}
