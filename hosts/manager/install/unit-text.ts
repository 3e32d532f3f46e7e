/** How the manager is started by the system: absolute paths only. */
export interface StartCommand {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables that the manager and its workloads need. No secret. */
  readonly env: Readonly<Record<string, string>>;
  /** File for what it prints; only launchd needs one. */
  readonly log: string;
}

/** What a unit or an agent runs. */
export interface UnitSubject {
  /** The first comment. No two hyphens in a row, because it is in XML too. */
  readonly note: string;
  readonly description: string;
  /** Name of the agent of launchd. */
  readonly label: string;
  /** Whether programs that it has started run on when it ends. */
  readonly leavesPrograms: boolean;
}

/** Name of the agent of launchd. */
export const AGENT_LABEL = 'dev.toolmgr.serve';
/** Name of the unit of systemd. */
export const UNIT_NAME = 'toolmgr.service';

const MANAGER: UnitSubject = {
  note: 'written by the option install of toolmgr serve, which replaces it',
  description: 'toolmgr workload manager',
  label: AGENT_LABEL,
  leavesPrograms: true,
};

/**
 * The systemd user unit. `KillMode=process`: workloads run on when the manager ends or is started again.
 *
 * Source: systemd.service(5), systemd.syntax(7).
 */
export function systemdUnit(
  { command, env }: Pick<StartCommand, 'command' | 'env'>,
  { note, description, leavesPrograms }: UnitSubject = MANAGER,
): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    `# ${note}`,
    '[Unit]',
    `Description=${description}`,
    'After=network-online.target',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${command.map((part) => quoted(part).replaceAll('$', '$$$$')).join(' ')}`,
    ...variables,
    'Restart=always',
    'RestartSec=2',
    ...(leavesPrograms ? ['KillMode=process'] : []),
    'TimeoutStopSec=30',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** A word of a unit file: quotes, escapes and specifiers lose their meaning. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`;
}

/**
 * The launchd agent. `AbandonProcessGroup`: workloads run on when the manager ends.
 *
 * Source: launchd.plist(5).
 */
export function launchAgent(
  { command, env, log }: StartCommand,
  { note, label, leavesPrograms }: UnitSubject = MANAGER,
): string {
  const strings = command.map((part) => `    <string>${escaped(part)}</string>`);
  const variables = Object.entries(env).map(
    ([name, value]) => `    <key>${escaped(name)}</key>\n    <string>${escaped(value)}</string>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${note} -->`,
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${label}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...strings,
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...variables,
    '  </dict>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <true/>',
    ...(leavesPrograms ? ['  <key>AbandonProcessGroup</key>', '  <true/>'] : []),
    '  <key>StandardErrorPath</key>',
    `  <string>${escaped(log)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
