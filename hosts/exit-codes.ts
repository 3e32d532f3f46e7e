/** Every exit code of the command line, in one table; `toolmgr help exit-codes` prints it. */
export const EXIT_CODES = {
  ok: { code: 0, means: 'done; a server was stopped by Ctrl-C or SIGTERM' },
  failed: { code: 1, means: 'wrong usage, a wrong configuration, or nothing answered' },
  toolFailed: { code: 5, means: 'the tool was called and failed' },
} as const satisfies Record<string, { readonly code: number; readonly means: string }>;
