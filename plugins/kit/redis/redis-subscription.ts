import { explainCause, type Log } from '@toolmgr/core';
import type { ConnectionTarget, RedisClient } from './redis-connection.ts';

/** The messages of one channel. While the connection is away they are lost. */
export interface RedisSubscription {
  /** Calls `heard` for every message. Returns the function that ends it. */
  listen(heard: (text: string) => void): () => void;
  close(): void;
}

/**
 * Subscribes to a channel over a connection of its own, because a connection with a subscription accepts no other commands. It is
 * opened in the background at the first `listen`, and again when it is lost. The log has a warning when the server refuses.
 */
export function openSubscription(log: Log, target: ConnectionTarget, channel: string): RedisSubscription {
  const listeners = new Set<(text: string) => void>();
  let client: RedisClient | undefined;
  let isOpening = false;
  let isClosed = false;
  let isRefused = false;

  const refused = (cause: unknown): void => {
    if (isClosed || isRefused || client?.status !== 'ready') return; // a lost connection subscribes again
    isRefused = true;
    log.warn(`${target.subject} refuses a subscription: changes of other replicas are seen some seconds later`, {
      channel,
      cause: explainCause(cause),
    });
  };
  const open = async (): Promise<void> => {
    const created = await target.create(await import('ioredis'));
    if (isClosed) return created.disconnect();
    client = created;
    created.on('error', () => {}); // the connection for commands logs what is wrong
    created.on('node error', () => {});
    created.on('message', (_channel: string, text: string) => {
      for (const listener of listeners) listener(text);
    });
    created.on('ready', () => void created.subscribe(channel).catch(refused));
    await created.connect().catch(() => {}); // it connects again by itself
  };
  return {
    listen(heard) {
      listeners.add(heard);
      if (!isOpening) {
        isOpening = true;
        open().catch(refused);
      }
      return () => listeners.delete(heard);
    },
    close() {
      isClosed = true;
      listeners.clear();
      client?.disconnect();
    },
  };
}
