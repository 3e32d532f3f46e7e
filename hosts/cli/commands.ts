import type { Command } from 'commander';

/** Commands that one module adds. */
interface CommandModule {
  /** First words of their command lines. */
  readonly words: readonly string[];
  /** Loads the module. */
  readonly load: () => Promise<(program: Command) => void>;
}

/** The modules of all commands but `version` and those of completion, in the order of the help. */
const MODULES: readonly CommandModule[] = [
  { words: ['up'], load: async () => (await import('./up/main.ts')).addUpCommand },
  { words: ['tools', 'call'], load: async () => (await import('./client/main.ts')).addClientCommands },
  { words: ['run'], load: async () => (await import('../run/main.ts')).addRunCommand },
  { words: ['build'], load: async () => (await import('../run/build-command.ts')).addBuildCommand },
  {
    words: [
      ...['list', 'ls', 'status', 'inspect', 'start', 'restart', 'stop', 'rm'],
      ...['logs', 'export', 'group', 'runtime'],
    ],
    load: async () => (await import('./workload-commands.ts')).addWorkloadCommands,
  },
  { words: ['skill'], load: async () => (await import('./skill-commands.ts')).addSkillCommands },
  { words: ['wait'], load: async () => (await import('./gateways/main.ts')).addGatewayCommands },
  { words: ['doctor'], load: async () => (await import('./doctor/main.ts')).addDoctorCommand },
  {
    words: ['search', 'registry', 'config'],
    load: async () => (await import('./registry/main.ts')).addRegistryCommands,
  },
  { words: ['secret'], load: async () => (await import('./secret/main.ts')).addSecretCommands },
  { words: ['client'], load: async () => (await import('./clients/main.ts')).addEditorCommands },
  { words: ['serve'], load: async () => (await import('../manager/main.ts')).addServeCommand },
  { words: ['upgrade'], load: async () => (await import('../manager/upgrades/main.ts')).addUpgradeCommands },
  { words: ['vmcp'], load: async () => (await import('./vmcp/main.ts')).addVmcpCommands },
  { words: ['operator'], load: async () => (await import('../operator/main.ts')).addOperatorCommand },
  { words: ['pins'], load: async () => (await import('./pins/main.ts')).addPinsCommands },
  { words: ['audit'], load: async () => (await import('./audit/main.ts')).addAuditCommands },
  { words: [], load: async () => (await import('../manager/commands/plugin-commands.ts')).loadPluginCommands(taken()) },
  { words: ['plugin'], load: async () => (await import('./plugin/main.ts')).addPluginCommands },
];

/** First words that need none of these modules at once. */
const OWN: ReadonlySet<string> = new Set(['--version', '-v', 'version', 'completion', 'complete']);

/** First words that no plugin can have. */
const taken = (): ReadonlySet<string> => new Set([...MODULES.flatMap(({ words }) => words), ...OWN, 'help']);

/**
 * Loads what adds the commands of a command line: those of its first word, or all, because help and suggestions name them all.
 *
 * Shape: `word` is `undefined` for all.
 */
export async function loadCommands(word: string | undefined): Promise<readonly ((program: Command) => void)[]> {
  if (word !== undefined && OWN.has(word)) return [];
  const asked = MODULES.filter(({ words }) => word !== undefined && words.includes(word));
  return Promise.all((asked.length === 0 ? MODULES : asked).map(({ load }) => load()));
}
