/** Clients whose files `up` finds, as `--client` names them. */
export const FOUND_CLIENTS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'windsurf', 'zed', 'codex'] as const;

/** A name of {@link FOUND_CLIENTS}. */
export type FoundClient = (typeof FOUND_CLIENTS)[number];
