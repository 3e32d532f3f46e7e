import { readFileSync } from 'node:fs';

/** Version of this package. The sources are beside package.json, the published code is in `dist` below it. */
export const VERSION: string = readVersion(['../package.json', '../../package.json']);

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'toolmgr' && version !== undefined) return version;
    } catch {
      // the next place
    }
  }
  return 'unknown';
}
