import { defineSlot } from '@toolmgr/core';
import type { WorkloadRecord } from '../workloads/state/workload-record.ts';
import type { PublishEvent } from './events.ts';
import type { Operation } from './operation.ts';

/** Operations by the address of the plugin that offers them. They are made in `apply`, which reads and starts nothing. */
export const operations = defineSlot<readonly Operation[]>('operations');

/** A view of the page in the navigation. */
export interface PageView {
  /** First part of its address on the page: `#/notes`. */
  readonly name: string;
  readonly title: string;
  /** Its place in the navigation; the views of toolmgr have 10, 20 and so on. */
  readonly order: number;
  /**
   * `file:` URL of an ES module without imports: `export function show(element, { request }) {}`. It fills the element and may return a function that
   * ends what it began. `request(method, path, body)` calls an operation and resolves with its body. Absent: a view of the page itself.
   */
  readonly module?: URL;
}

/** Views by the address of the plugin that offers them. */
export const pageViews = defineSlot<readonly PageView[]>('pageViews');

/** What background work gets. */
export interface BackgroundContext {
  /** Ends it, when the manager stops. */
  readonly signal: AbortSignal;
  readonly publish: PublishEvent;
}

/** Work while the manager runs, by the address of its plugin. It resolves when it has ended after `signal`. */
export const backgroundWork = defineSlot<(context: BackgroundContext) => Promise<void>>('backgroundWork');

/** Where the operations of a user run: in the manager, or in a command. */
export interface OperationHome {
  /** The state folder, which the commands also use. */
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends when the host stops. */
  readonly signal: AbortSignal;
  /** The workloads, sorted by name. A record is read again only when its file changed. */
  workloads(): Promise<readonly WorkloadRecord[]>;
}

/** The home of operations; the host fills it with the name `user`. */
export const operationHomes = defineSlot<OperationHome>('operationHomes');
