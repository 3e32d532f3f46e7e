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

/** Something ran longer than `limits.blockedMs` without a pause; nothing else was served meanwhile. */
export interface LoopBlocked {
  /** Address of the plugin; absent when it is not known. */
  readonly plugin?: string;
  /** The hook in which the plugin ran; `background` when no hook is known. */
  readonly stage: string;
  /** Method of the call or request. */
  readonly method?: string;
  /** Name of the tool or prompt, or the URI, as the client sent it. */
  readonly name?: string;
  readonly ms: number;
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
