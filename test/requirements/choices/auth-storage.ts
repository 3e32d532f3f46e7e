import type { Section } from '../section.ts';

/** Decisions about the records of the authorization server. */
export const authStorage = [
  {
    source: 'choice: storage of the authorization server (decision 048)',
    says: {
      'choice.auth-storage.one-winner': 'of parallel writers of one record one wins, in memory and on all replicas',
      'choice.auth-storage.kinds': 'a flood of records that strangers create displaces no tokens and no people',
      'choice.auth-storage.lost-answer': 'an operation whose answer was lost is repeated and has its effect once',
      'choice.auth-storage.failover':
        'a failover of Redis in the middle of code exchanges and refreshes loses no sign-in',
      'choice.auth-storage.hangs': 'a Redis that hangs gives 503 within the timeouts and is taken up again by itself',
      'choice.auth-storage.long-outage': 'in a long outage operations fail at once and do not pile up',
      'choice.auth-storage.replicas': 'replicas on one Redis exchange a code once and give one next refresh token',
      'choice.auth-storage.upstream-once': 'replicas on one Redis refresh an upstream token once',
      'choice.auth-storage.changes-heard':
        'replicas on one Redis hear at once that an account was connected or disconnected, and that a session has ended',
      'choice.auth-storage.no-secrets':
        'Redis holds no code, token, cookie or client secret as text, with or without a key',
      'choice.auth-storage.encrypted': 'with a key no value of a record is readable in Redis',
      'choice.auth-storage.bound-to-key':
        'an encrypted record does not decrypt under another key or for another gateway',
      'choice.auth-storage.rotation': 'the first secret encrypts and all decrypt',
      'choice.auth-storage.unencrypted-refused':
        'with a key a record without encryption counts as absent unless readUnencrypted is set',
    },
  },
] as const satisfies readonly Section[];
