import { access } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of client configuration files, in search order. */
export function clientFilePaths(folder: string, home: string, env: NodeJS.ProcessEnv = process.env): readonly string[] {
  return [
    join(folder, '.mcp.json'),
    join(folder, 'mcp.json'),
    join(folder, '.vscode', 'mcp.json'),
    join(folder, '.cursor', 'mcp.json'),
    claudeDesktop(home, env),
  ];
}

/** The first file that can be read, or `undefined`. */
export async function findClientFile(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    if (await canRead(file)) return file;
  }
  return undefined;
}

function claudeDesktop(home: string, env: NodeJS.ProcessEnv): string {
  const name = 'claude_desktop_config.json';
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'Claude', name);
  if (process.platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Claude', name);
  return join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'Claude', name);
}

async function canRead(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
