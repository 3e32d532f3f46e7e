/**
 * A wire generation of MCP. `2025-11-25` stands for every revision that starts with `initialize`; `2026-07-28` for the
 * stateless ones.
 */
export type Era = '2025-11-25' | '2026-07-28';

/** How the era of a backend is determined: by probing, or by configuration. */
export type EraSetting = 'auto' | 'legacy' | 'modern';
