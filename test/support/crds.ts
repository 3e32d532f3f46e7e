import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../deploy/crds/', import.meta.url));

/** The CustomResourceDefinitions of all kinds as YAML, for `startKube({ crds: allCrds() })`. */
export function allCrds(): string {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(FOLDER + name, 'utf8'))
    .join('---\n');
}
