import type { ClientRow } from '../table/client-row.ts';
import type { EntryText } from './entry-text.ts';
import { jsonEntries } from './json-entries.ts';
import { tomlEntries } from './toml-entries.ts';
import { yamlEntries } from './yaml-entries.ts';

const FORMATS = { json: jsonEntries, yaml: yamlEntries, toml: tomlEntries } as const;

/** The edits for the file of a client. */
export function entriesOf({ format, key, shape }: ClientRow): EntryText {
  return FORMATS[format]({ key, shape });
}
