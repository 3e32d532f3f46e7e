import type { BackendState } from './backend.ts';
import type { ToolEntry } from './call.ts';

/** A legacy client session has ended. */
export interface SessionEnded {
  readonly sessionId: string;
  /**
   * `displaced`: closed to make room for a new session, because its caller had reached its limit or had the most
   * sessions.
   */
  readonly reason: 'deleted' | 'expired' | 'stolen' | 'displaced' | 'shutdown';
  readonly durationMs: number;
}

/** A backend appeared, changed its state, or was removed. */
export interface BackendChanged {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'status';
  readonly state: BackendState | undefined;
}

/** The catalogue of one capability class was rebuilt and differs from the previous one. */
export interface CatalogRebuilt {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
  readonly tools: number;
  /** The tools of the direct path, as `core.reachable` returns them; a search looks for tools in these. */
  readonly reachable: readonly ToolEntry[];
  readonly warnings: readonly string[];
}
