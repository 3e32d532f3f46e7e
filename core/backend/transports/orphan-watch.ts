import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Sees to it that process groups end with this process even when it is killed and can do nothing itself.
 *
 * A program whose gateway dies sees its stdin end, and most end by themselves then. Some do not: they have timers or
 * sockets of their own. One small shell for all groups of this process reads their numbers from a pipe; the pipe ends
 * with this process, however that happens, and the shell ends what is left. It lives only while there are groups.
 *
 * Without a `sh` nothing watches: Windows has none, and an image without a shell is a container, whose processes all
 * end with its first.
 */
export function watchGroup(group: number): void {
  if (process.platform === 'win32') return;
  groups.add(group);
  if (watcher !== undefined) return tell(watcher, '+', group);
  startWatcher();
}

/** The group has ended; its number may soon be somebody else's. */
export function unwatchGroup(group: number): void {
  if (!groups.delete(group) || watcher === undefined) return;
  tell(watcher, '-', group);
  if (groups.size > 0) return;
  watcher.stdin?.end();
  watcher = undefined;
}

const groups = new Set<number>();
/** A shell that ends sooner than this is not replaced at once: where something ends them all, one a second is enough. */
const LEAST_LIFE_MS = 1_000;
let watcher: ChildProcess | undefined;

/** Time to end on a closed stdin, then on SIGTERM, in seconds. */
const END_SECONDS = 1;
const TERM_SECONDS = 2;

const SCRIPT = `
groups=
while read -r sign group; do
  if [ "$sign" = + ]; then groups="$groups $group"; continue; fi
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
done
[ -n "$groups" ] || exit 0
sleep ${END_SECONDS}
for one in $groups; do kill -TERM -"$one" 2>/dev/null; done
sleep ${TERM_SECONDS}
for one in $groups; do kill -KILL -"$one" 2>/dev/null; done
exit 0
`;

/** Starts one that knows all groups there are. */
function startWatcher(): void {
  const startedAt = performance.now();
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'toolmgr-orphan-watch'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C and a signal to the gateway's group are not meant for it
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  });
  child.unref();
  const { stdin } = child;
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  stdin?.on('error', ignore); // EPIPE: the exit below says the same
  child.on('error', ignore);
  child.once('exit', () => {
    if (watcher !== child) return;
    watcher = undefined; // somebody ended it: what it watched needs another
    const waitMs = performance.now() - startedAt < LEAST_LIFE_MS ? LEAST_LIFE_MS : 0;
    setTimeout(startMissing, waitMs).unref();
  });
  watcher = child;
  for (const each of groups) tell(child, '+', each);
}

/** A new group may have brought one meanwhile, or the last group may have ended. */
function startMissing(): void {
  if (watcher === undefined && groups.size > 0) startWatcher();
}

function tell(to: ChildProcess, sign: '+' | '-', group: number): void {
  to.stdin?.write(`${sign} ${group}\n`);
}

const ignore = (): void => {};
