import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Ends process groups together with this process, even when this process is killed.
 *
 * A program whose gateway dies gets the end of its stdin, and most programs end then. Some do not, because they have
 * timers or sockets. One small shell for all groups of this process reads their numbers from a pipe; the pipe ends with
 * this process, and then the shell ends the remaining groups. It runs only while there are groups.
 *
 * Without a `sh` groups are not watched: Windows has none, and an image without a shell is a container, whose processes
 * all end with the first one.
 */
export function watchGroup(group: number): void {
  if (process.platform === 'win32') return;
  groups.add(group);
  if (watcher !== undefined) return tell(watcher, '+', group);
  startWatcher();
}

/** The group has ended; its number may be reused soon. */
export function unwatchGroup(group: number): void {
  if (!groups.delete(group) || watcher === undefined) return;
  tell(watcher, '-', group);
  if (groups.size > 0) return;
  watcher.stdin?.end();
  watcher = undefined;
}

const groups = new Set<number>();
/** A shell that ends sooner than this is restarted with a delay, because something may be ending all of them. */
const LEAST_LIFE_MS = 1_000;
let watcher: ChildProcess | undefined;

/** Seconds to end after a closed stdin, then after SIGTERM. */
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

/** Starts a shell that knows all groups. */
function startWatcher(): void {
  const startedAt = performance.now();
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'toolmgr-orphan-watch'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C and signals to the gateway's group must not end it
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
  });
  child.unref();
  const { stdin } = child;
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  stdin?.on('error', ignore); // EPIPE: the exit event handles it
  child.on('error', ignore);
  child.once('exit', () => {
    if (watcher !== child) return;
    watcher = undefined; // it was ended: its groups need another one
    const waitMs = performance.now() - startedAt < LEAST_LIFE_MS ? LEAST_LIFE_MS : 0;
    setTimeout(startMissing, waitMs).unref();
  });
  watcher = child;
  for (const each of groups) tell(child, '+', each);
}

/** A new group may have started one meanwhile, or the last group may have ended. */
function startMissing(): void {
  if (watcher === undefined && groups.size > 0) startWatcher();
}

function tell(to: ChildProcess, sign: '+' | '-', group: number): void {
  to.stdin?.write(`${sign} ${group}\n`);
}

const ignore = (): void => {};
