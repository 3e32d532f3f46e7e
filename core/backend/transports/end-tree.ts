import { spawn } from 'node:child_process';
import { windowsProgram } from './windows-command.ts';

/** Ends a process of Windows and all processes below it. Windows has neither process groups nor a signal to end by. */
export function endTree(pid: number, otherwise: () => void): void {
  spawn(windowsProgram('taskkill.exe'), ['/PID', String(pid), '/T', '/F'], {
    stdio: 'ignore',
    windowsHide: true,
    timeout: END_MS,
  }).once('error', otherwise);
}

const END_MS = 3_000;
