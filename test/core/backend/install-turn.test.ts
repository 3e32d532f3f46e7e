import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeInstallTurn } from '../../../core/backend/transports/install-turn.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { fixture } from './support.ts';

const signal = new AbortController().signal;

function turns() {
  const cache = temporaryFolder('turns');
  const of = (...packages: string[]) => ({ runner: 'npx', packages, cache });
  return { cache, of, take: (waitMs = 0) => takeInstallTurn(of('pkg'), { signal, waitMs }) };
}

/** Another process that has the turn. */
async function holder(cache: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--conditions=development', fixture('turn-holder.ts'), cache, 'pkg'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

describe('the turn to install a package', () => {
  it('is held by one process at a time, and the next one gets it when it ends', async () => {
    const { take, of, cache } = turns();
    const first = await take();
    expect(await take()).toBeUndefined();
    expect(await takeInstallTurn(of('other'), { signal, waitMs: 0 })).toBeTypeOf('function');
    const second = take(10_000);
    await first?.();
    await (await second)?.();
    await first?.();
    expect(await take()).toBeTypeOf('function');
    expect(readdirSync(join(cache, '_toolmgr'))).toHaveLength(2); // one file per package, whatever happened
  });

  it('is given to one of many concurrent processes', async () => {
    const { take } = turns();
    const taken = await Promise.all(Array.from({ length: 20 }, () => take()));
    expect(taken.filter((end) => end !== undefined)).toHaveLength(1);
  });

  proves('choice.first-start.one-install', 'holds between processes, and ends when its process dies', async () => {
    const { take, cache } = turns();
    const child = await holder(cache);
    expect(await take()).toBeUndefined();
    const next = take(10_000);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await next).toBeTypeOf('function');
  });

  proves('choice.first-start.one-install', 'passes to another process when it ends', async () => {
    const { take, cache } = turns();
    const child = await holder(cache);
    const next = take(10_000);
    child.stdin?.end();
    expect(await next).toBeTypeOf('function');
  });

  it('is not waited for after an abort', async () => {
    const { of, take } = turns();
    await take();
    const stop = new AbortController();
    const waiting = takeInstallTurn(of('pkg'), { signal: stop.signal, waitMs: 60_000, onWait: () => stop.abort() });
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is given at once where the cache cannot be written: nothing can be installed there', async () => {
    const run = { runner: 'npx', packages: ['pkg'], cache: '/dev/null/cache' };
    expect(await takeInstallTurn(run, { signal, waitMs: 0 })).toBeTypeOf('function');
  });
});
