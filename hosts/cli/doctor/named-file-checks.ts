import { readFile } from 'node:fs/promises';
import { explainCause, isObject, type JsonValue } from '@toolmgr/core';
import { readClientFile } from '../../client-files/client-file.ts';
import { expansionContext } from '../../client-files/expand.ts';
import { parseClientText } from '../../client-files/parse-client-text.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { type Check, type Finding, fail, ok, warn } from './checks.ts';

/** The code that reads a vmcp file is loaded first, which takes seconds on a busy machine. */
const LIMIT_MS = 60_000;

/** Files that were named: what `up`, `vmcp serve` and `vmcp validate` accept. One finding for each problem. */
export function namedFileChecks(files: readonly string[]): readonly Check[] {
  return files.map((file) => ({ name: 'named file', limitMs: LIMIT_MS, run: () => namedFileFindings(file) }));
}

async function namedFileFindings(file: string): Promise<readonly Finding[]> {
  try {
    const text = await readFile(file, 'utf8');
    return await FINDINGS_OF[await kindOf(text, file)](text, file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return [fail(`${file}: there is no such file`, `name a file that exists`)];
    return eachOf(explainCause(cause).split('\n'), (line) => fail(line, `correct ${file}`));
  }
}

type Kind = 'client' | 'manifests' | 'vmcp';

/** A JSON or TOML file is one of a client, unless it has the keys of a vmcp file or of an object of a cluster. */
async function kindOf(text: string, file: string): Promise<Kind> {
  const { isManifest } = await import('../../operator/manifests/read-manifests.ts');
  const value = await parseClientText(text, file).catch((): JsonValue | undefined => undefined);
  if (!isObject(value)) return isManifest(text) ? 'manifests' : IS_OF_CLIENT.test(file) ? 'client' : 'vmcp';
  if ('apiVersion' in value && 'kind' in value) return 'manifests';
  return 'backends' in value || 'groupRef' in value ? 'vmcp' : 'client';
}

const IS_OF_CLIENT = /\.(jsonc?|toml)$/;

const FINDINGS_OF: Readonly<Record<Kind, (text: string, file: string) => Promise<readonly Finding[]>>> = {
  async client(text, file) {
    const { backends, notes } = await readClientFile(text, file, expansionContext(file));
    if (backends.length === 0) {
      const none = fail(`${file}: no server is left to serve`, `correct ${file}`);
      return [...eachOf(notes, (note) => fail(`${file}: ${note}`, `correct ${file}`)), none];
    }
    const servers = `${backends.length} ${backends.length === 1 ? 'server' : 'servers'}`;
    return [
      ok(`${file} is a client file with ${servers} (${ownCommand(`up ${file}`)})`),
      ...eachOf(notes, (note) => warn(`${file}: ${note}`, `correct ${file} if that is not meant`)),
    ];
  },

  async manifests(text, file) {
    const [{ checkManifests }, { catalogue }] = await Promise.all([
      import('../../operator/manifests/check-manifests.ts'),
      import('@toolmgr/plugins'),
    ]);
    const { isValid, objects, problems } = await checkManifests(text, file, catalogue);
    const fix = `see all: ${ownCommand(`vmcp validate -c ${file}`)}`;
    if (isValid) return [ok(`${file} is valid: ${objects} objects of a cluster`)];
    if (problems.length === 0) return [fail(`${file}: a cluster would make no pods of it`, fix)];
    return eachOf(problems, (problem) => fail(problem, fix));
  },

  async vmcp(text, file) {
    const [{ readConfig }, { checkStart }, { catalogue }] = await Promise.all([
      import('../../vmcp/read-config.ts'),
      import('../../vmcp/check-start.ts'),
      import('@toolmgr/plugins'),
    ]);
    const read = await readConfig(text, file, catalogue);
    const start = await checkStart(read, file);
    const warnings = eachOf([...read.warnings, ...start.warnings], (line) => warn(line, `correct ${file}`));
    // a check of files runs nothing that they name
    if (read.notLoaded.length > 0) {
      const plugins = read.notLoaded.join(', ');
      const how = ownCommand(`vmcp validate -c ${file} --load-plugins`);
      return [
        ok(
          `${file} is a vmcp file without a problem that shows before its plugins are loaded; not loaded: ${plugins} (${how} loads them)`,
        ),
        ...warnings,
      ];
    }
    return [ok(`${file} is a valid vmcp file (${ownCommand(`vmcp serve -c ${file}`)})`), ...warnings];
  },
};

/** A finding for each of the first {@link MAX_PROBLEMS} sentences. */
function eachOf(sentences: readonly string[], found: (sentence: string) => Finding): readonly Finding[] {
  const more = sentences.length - MAX_PROBLEMS;
  const shown = more > 0 ? [...sentences.slice(0, MAX_PROBLEMS), `and ${more} more`] : sentences;
  return shown.map(found);
}

const MAX_PROBLEMS = 20;
