import { createHash } from 'node:crypto';
import { explainCause } from '@toolmgr/core';
import { type Api, ApiError, type KubeObject, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { ControllerLog, EventRecorder, EventText } from './controller.ts';
import { microTime } from './leader-election.ts';

/** Source: Kubernetes API `events.k8s.io/v1` Event. */
interface KubeEvent extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: EventText['type'];
  readonly note: string;
  readonly regarding: object;
}

export const events: ResourceType<KubeEvent> = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' };

export interface EventRecorderOptions {
  readonly api: Api;
  /** Such as `toolmgr.dev/operator`. */
  readonly controller: string;
  /** Name of this replica. */
  readonly instance: string;
  readonly log: ControllerLog;
  readonly now?: () => number;
}

/** An event recorder with a queue. */
export interface QueuedEventRecorder extends EventRecorder {
  /** Resolves when all events are written or given up. */
  flush(): Promise<void>;
}

/** Events that wait to be written; over it the oldest is dropped. */
const MAX_WAITING = 1_000;
/** Names of written events that are kept, so that no request repeats one. */
const MAX_KNOWN = 10_000;
// Limits of the API.
const NOTE_BYTES = 1_024;
const NAME_CHARS = 253;
const REASON_CHARS = 128;

/**
 * Writes events one after another. The name of an event is made of the uid, the reason and the transition, so the API refuses
 * the second one of a transition with 409, which is no failure.
 */
export function createEventRecorder(options: EventRecorderOptions): QueuedEventRecorder {
  const { api, log, now = Date.now } = options;
  const waiting: KubeEvent[] = [];
  const known = new Set<string>();
  let dropped = 0;
  let writing: Promise<void> | undefined;
  const write = async (event: KubeEvent): Promise<void> => {
    try {
      await api.create(events, event);
    } catch (cause) {
      if (cause instanceof ApiError && cause.reason === 'AlreadyExists') return;
      // it may be reported again
      known.delete(event.metadata.name);
      log.warn('an event is not written', { reason: event.reason, cause: explainCause(cause) });
    }
  };
  const writeAll = async (): Promise<void> => {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) await write(event);
    if (dropped > 0) log.warn('events are dropped, because they cannot be written as fast as they occur', { dropped });
    dropped = 0;
    writing = undefined;
  };
  return {
    emit(regarding, text) {
      const event = eventOf(regarding, text, options, now());
      const { name } = event.metadata;
      if (known.has(name)) return;
      known.add(name);
      if (known.size > MAX_KNOWN) known.delete(known.values().next().value ?? '');
      waiting.push(event);
      if (waiting.length > MAX_WAITING) {
        known.delete(waiting.shift()?.metadata.name ?? '');
        dropped += 1;
      }
      writing ??= writeAll();
    },
    async flush() {
      await writing;
    },
  };
}

function eventOf(
  { apiVersion, kind, metadata }: KubeObject,
  { type, reason, message, action, transition }: EventText,
  { controller, instance }: EventRecorderOptions,
  nowMs: number,
): KubeEvent {
  const { namespace, name, uid = '', resourceVersion } = metadata;
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, reason, transition]))
    .digest('hex')
    .slice(0, 16);
  return {
    ...{ apiVersion: events.apiVersion, kind: events.kind },
    metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, NAME_CHARS - hash.length - 1)}.${hash}` },
    eventTime: microTime(nowMs),
    reportingController: controller,
    reportingInstance: instance.slice(0, REASON_CHARS),
    action: action.slice(0, REASON_CHARS),
    reason: reason.slice(0, REASON_CHARS),
    type,
    note: cut(message, NOTE_BYTES),
    regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
  };
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const dots = '...';
  return `${Buffer.from(text)
    .subarray(0, bytes - dots.length)
    .toString()
    .replace(/\uFFFD$/, '')}${dots}`;
}
