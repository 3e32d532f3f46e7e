import { type Call, defineHook } from '@toolmgr/core';

/**
 * A caller searched for tools that no list shows, or called a tool that it found by a search. Reported after the answer
 * by the plugin that hides tools behind a search.
 */
export interface ToolSearched {
  readonly way: 'search' | 'call';
  /** The search itself, or the call of the tool that was found. */
  readonly call: Call;
  /** `error`: also when the tool reported an error. `notFound`: the called name does not exist. */
  readonly outcome: 'ok' | 'error' | 'notFound';
  readonly durationMs: number;
  /** For a search: the number of tools found. */
  readonly found?: number;
  /** For a search: percentage of tokens saved, 0 to 100, compared with a list of all tools. */
  readonly savingsPercent?: number;
}

/** Called by the plugin that provides the search. */
export const toolSearched = defineHook<ToolSearched>('toolSearched', 'event');
