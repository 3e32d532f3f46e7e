import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of a test with a skill in it. */
export interface SkillFolder extends AsyncDisposable {
  /** The parent, for stores and keys. */
  readonly home: string;
  /** Folder of the skill, with its name. */
  readonly path: string;
  /** Writes a file of the skill. */
  write(path: string, content: string | Buffer): Promise<void>;
}

/** SKILL.md of a valid skill. `more`: further lines of its front matter. */
export function skillText(name: string, more: readonly string[] = [], body = '# Use it\n\nRead the files.\n'): string {
  return ['---', `name: ${name}`, 'description: Reviews a change.', ...more, '---', body].join('\n');
}

/** Makes a valid skill with two more files. */
export async function skillFolder(name = 'code-review', more: readonly string[] = []): Promise<SkillFolder> {
  const home = await mkdtemp(join(tmpdir(), 'toolmgr-skill-'));
  const path = join(home, name);
  const write = async (file: string, content: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), content);
  };
  await write('SKILL.md', skillText(name, more));
  await write('scripts/check.sh', '#!/bin/sh\necho checked\n');
  await write('references/rules.md', '# Rules\n');
  return { home, path, write, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}
