/** Every exit code of the command line, in one table; the help prints it. */
export const EXIT_CODES = {
  ok: { code: 0, means: 'done; a server was stopped by Ctrl-C or SIGTERM' },
  failed: { code: 1, means: 'wrong usage, a wrong configuration, or nothing answered' },
  refused: { code: 2, means: 'run: what was asked for cannot be' },
  toolFailed: { code: 5, means: 'call: the tool was called and failed' },
  interrupted: { code: 130, means: 'Ctrl-C before it was done' },
} as const satisfies Record<string, { readonly code: number; readonly means: string }>;
