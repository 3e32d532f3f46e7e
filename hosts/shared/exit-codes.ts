/** Every exit code of the command line; the help prints them. */
export const EXIT_CODES = {
  ok: { code: 0, means: 'success, also when Ctrl-C or SIGTERM stopped a server' },
  failed: { code: 1, means: 'wrong usage, an invalid configuration, no answer, or a workload that does not run' },
  changed: {
    code: 2,
    means: 'skill sync --check, skill upgrade and vmcp simulate --fail-on-changes: something changed',
  },
  partlyFailed: { code: 3, means: 'skill sync, skill upgrade: some skills failed' },
  policyRefused: {
    code: 4,
    means: 'skill: a signature, a signer or a source was refused, or a change was not confirmed',
  },
  toolFailed: { code: 5, means: 'call: the tool failed, or the call was refused; vmcp explain call: it would be' },
  notYet: {
    code: 10,
    means:
      'wait: the time is over, and backends are still tried; call, tools preflight: a tool cannot be used yet, try again',
  },
  blocked: {
    code: 11,
    means: 'wait: a backend failed, and another attempt does not help; tools preflight: a tool cannot be used',
  },
  unknown: {
    code: 12,
    means:
      'wait: no gateway runs; call: there is no such tool; tools preflight: there is no such tool, or no endpoint answers',
  },
  interrupted: { code: 130, means: 'Ctrl-C before the command was finished' },
} as const satisfies Record<string, { readonly code: number; readonly means: string }>;
