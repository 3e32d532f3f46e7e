import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

const WAIT_MS = 120_000;

/** A shell in a terminal of tmux, without the user's settings. */
export interface Terminal extends Disposable {
  /** Types a command and Enter. */
  enter(command: string): void;
  /** Waits until the screen has the text. @throws Error with the screen after two minutes */
  until(text: RegExp): Promise<void>;
  /** The screen with colours as ANSI sequences, without empty lines at the end. */
  screen(): string;
}

/** Opens a terminal of some columns and rows. `env` is all that its shell gets. */
export function openTerminal(
  name: string,
  { columns, rows, cwd, env }: { columns: number; rows: number; cwd: string; env: Readonly<Record<string, string>> },
): Terminal {
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', `toolmgr-pictures-${process.pid}`, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const given = Object.entries({ ...env, PS1: '$ ', TERM: 'tmux-256color', LANG: 'C.UTF-8' }).map(
    ([key, value]) => `${key}=${value}`,
  );
  const shell = ['env', '-i', ...given, 'bash', '--norc', '--noprofile'];
  tmux('new-session', '-d', '-s', name, '-x', String(columns), '-y', String(rows), '-c', cwd, ...shell);
  const screen = (): string => tmux('capture-pane', '-e', '-p', '-t', name).trimEnd();
  return {
    enter: (command) => void tmux('send-keys', '-t', name, command, 'Enter'),
    screen,
    async until(text) {
      const lateMs = performance.now() + WAIT_MS;
      while (!text.test(tmux('capture-pane', '-p', '-t', name))) {
        if (performance.now() > lateMs) throw new Error(`the terminal does not show ${text}:\n${screen()}`);
        await setTimeout(100);
      }
    },
    [Symbol.dispose]: () => {
      tmux('send-keys', '-t', name, 'C-c');
      tmux('kill-session', '-t', name);
    },
  };
}
