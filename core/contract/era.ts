/**
 * A wire generation of MCP. `2025-11-25` stands for every revision that opens with `initialize`;
 * `2026-07-28` for the stateless ones.
 */
export type Era = '2025-11-25' | '2026-07-28';

/** How a backend's era is found: by probing, or as the operator says. */
export type EraSetting = 'auto' | 'legacy' | 'modern';
