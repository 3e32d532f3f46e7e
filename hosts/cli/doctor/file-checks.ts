import { constants } from 'node:fs';
import { access, mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { explainCause } from '@toolmgr/core';
import { userPlace } from '@toolmgr/plugins/clients';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { readClientFile } from '../../client-files/client-file.ts';
import { serversIn } from '../../client-files/file-shapes.ts';
import { clientPlaces, readFoundFile } from '../../client-files/find-file.ts';
import { parseClientText } from '../../client-files/parse-client-text.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { readRecords } from '../../shared/running/gateway-record.ts';
import { readUserConfig, userConfigPath } from '../../shared/user-config.ts';
import { type Check, type Finding, fail, ok, warn } from './checks.ts';

/** Settings, client files that are found, the state folder, records of gateways. */
export function fileChecks(env: NodeJS.ProcessEnv): readonly Check[] {
  return [
    { name: 'settings', run: () => settingsFinding(env) },
    { name: 'client files', run: () => clientFileFindings(env) },
    { name: 'state folder', run: () => stateFindings(env) },
    { name: 'gateways', run: () => gatewayFinding(env) },
  ];
}

async function settingsFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  const path = userConfigPath(env);
  try {
    await readUserConfig(path);
    return ok(
      await access(path).then(
        () => path,
        () => `${path} does not exist, so the defaults apply`,
      ),
    );
  } catch (cause) {
    return fail(explainCause(cause), `correct ${path}`);
  }
}

async function clientFileFindings(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const folder = process.cwd();
  const context = { env, home: env.HOME ?? homedir(), folder };
  for (const { file } of clientPlaces(folder, userPlace(env, process.platform, homedir()))) {
    const text = await readFoundFile(file).catch((cause: NodeJS.ErrnoException) => cause);
    if (typeof text !== 'string') {
      if (text.code !== 'ENOENT' && text.code !== 'ENOTDIR')
        found.push(warn(`${file} cannot be read (${text.code})`, `make ${file} readable for yourself`));
      continue;
    }
    try {
      // files of settings may have no servers
      if (serversIn(await parseClientText(text, file), folder) === undefined) continue;
      const { backends, notes } = await readClientFile(text, file, context);
      found.push(
        ok(
          `${file}: ${counted(backends.length, 'server')}${notes.length > 0 ? `, ${counted(notes.length, 'note')} (${ownCommand(`doctor ${file}`)})` : ''}`,
        ),
      );
    } catch (cause) {
      found.push(warn(explainCause(cause), `correct ${file}`));
    }
  }
  return found.length === 0 ? [ok(`none found; ${ownCommand('up')} needs one`)] : found;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

async function stateFindings(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const folder = stateDir(env);
  const fix = `make ${folder} writable for yourself, or set TOOLMGR_STATE_DIR to another folder`;
  const probe = join(folder, `.doctor-${process.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await rm(probe);
    await access(folder, constants.R_OK | constants.X_OK);
  } catch (cause) {
    return [fail(`${folder} is not writable: ${explainCause(cause)}`, fix)];
  }
  const { bavail, bsize } = await statfs(folder);
  const { mode } = await stat(folder);
  const free = bavail * bsize;
  const shown = `${(free / GIB).toFixed(1)} GiB free`;
  const space =
    free < MIN_FREE
      ? warn(`${folder}: only ${shown}`, 'free some space; installing servers takes a few hundred MiB')
      : ok(`${folder}, ${shown}`);
  const isOpen = process.platform !== 'win32' && (mode & 0o022) !== 0;
  return isOpen ? [space, fail(`other users can write to ${folder}`, `run: chmod go-w ${folder}`)] : [space];
}

const GIB = 1024 ** 3;
const MIN_FREE = 0.5 * GIB;

async function gatewayFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  const { running, stale } = await readRecords(join(stateDir(env), 'gateways'));
  if (stale.length === 0) return ok(`${running.length} running`);
  return warn(
    `${running.length} running, ${stale.length} killed without removing their records`,
    `${ownCommand('status')} removes the records`,
  );
}
