import { LRUCache } from 'lru-cache';

const REMEMBERED = 256;
const QUIET_MS = 60_000;

/** Writes a line, but not the same one again within a minute: programs repeat what fails. */
export function quietNotes(write: (line: string) => void): (line: string) => void {
  const written = new LRUCache<string, true>({ max: REMEMBERED, ttl: QUIET_MS });
  return (line) => {
    if (written.has(line)) return;
    written.set(line, true);
    write(line);
  };
}
