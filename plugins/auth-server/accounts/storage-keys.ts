import { createHash } from 'node:crypto';

/** Keys of records about people. Subjects are hashed: they may be long, and storage keys appear in tools of operators. */
export const KEYS = {
  /** A subject is unique within its authority only: another one under the same name has other people. */
  identity: (provider: string, authority: string, subject: string): string =>
    `provider:${provider}:${createHash('sha256')
      .update(JSON.stringify([authority, subject]))
      .digest('base64url')}`,
  person: (id: string): string => `user:${id}`,
  session: (tsid: string): string => `session:${tsid}`,
  /** Set: sessions of a person. */
  sessionsOf: (person: string): string => `user:sessions:${person}`,
  tokens: (person: string, provider: string): string => `upstream:${person}:${provider}`,
  /** Set: providers with a row of a person. */
  providersOf: (person: string): string => `user:upstream:${person}`,
  refreshLock: (person: string, provider: string): string => `lock:upstream:${person}:${provider}`,
} as const;
