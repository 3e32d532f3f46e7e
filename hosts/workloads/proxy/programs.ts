import { spawn as spawnChild } from 'node:child_process';
import { constants } from 'node:os';
import type { GatewayOptions } from '@toolmgr/core';
import { type LogFile, wholeLines } from '@toolmgr/plugins/kit/files';
import type { Wake } from '../../shared/wake.ts';

/** How a program ended without being stopped. A signal counts as 128 plus its number, as in shells. */
export interface ProgramEnd {
  readonly exitCode: number;
  readonly how: string;
}

/** Starts and watches the programs of the gateway. */
export interface Programs {
  readonly spawn: NonNullable<GatewayOptions['spawn']>;
  /** The last one that ended by itself. */
  ended(): ProgramEnd | undefined;
  /** Forgets the programs that have ended. */
  forget(): void;
}

/** Starts programs for the gateway, writes their stderr to `output`, records how they end and wakes who waits for that. */
export function watchPrograms(output: LogFile, wake: Wake): Programs {
  let ended: ProgramEnd | undefined;
  return {
    spawn(file, args, options) {
      const child = spawnChild(file, [...args], options);
      const lines = wholeLines((part) => output.write(part));
      child.stderr?.on('data', (chunk: Buffer) => lines.add(chunk));
      child.stderr?.once('close', () => lines.end());
      child.once('exit', (code, signal) => {
        // the gateway stops a program by closing its input
        if (child.stdin?.writableEnded === true) return;
        const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
        ended = { exitCode, how: signal === null ? `exit code ${exitCode}` : `signal ${signal}` };
        wake.now();
      });
      return child;
    },
    ended: () => ended,
    forget() {
      ended = undefined;
    },
  };
}
