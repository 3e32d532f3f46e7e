import type { BackendState } from './backend.ts';

/** A legacy client session has ended. */
export interface SessionEnded {
  readonly sessionId: string;
  readonly reason: 'deleted' | 'expired' | 'stolen' | 'shutdown';
  readonly durationMs: number;
}

/** A backend appeared, changed its state, or left. */
export interface BackendChanged {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'status';
  readonly state: BackendState | undefined;
}

/** The catalogue of one capability class was built again and differs from the one before. */
export interface CatalogRebuilt {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
  readonly tools: number;
  readonly warnings: readonly string[];
}
