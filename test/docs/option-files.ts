import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { webhookList } from '@toolmgr/plugins/kit/settings';
import { readRunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { parse } from 'yaml';
import { z } from 'zod';
import { readClientFile } from '../../hosts/client-files/client-file.ts';
import { readUserConfig } from '../../hosts/shared/user-config.ts';
import { readOptionFile } from '../../hosts/workloads/config/option-file.ts';
import { readOverrides } from '../../hosts/workloads/config/tools-override.ts';
import { readProfile } from '../../plugins/kit/workloads/permissions/profile.ts';
import { readRegistryDocument } from '../../plugins/registry/read-document.ts';

/** Reads a block as the option or file that it is for. @throws Error with what is wrong */
export type Reader = (text: string) => Promise<void>;

const HOME = '/home/reader';
const webhookFile = z.strictObject({ mutating: webhookList.default([]), validating: webhookList.default([]) });

/** Readers of files beside a vmcp file, by the kind of the block. */
export const OPTION_FILES: Readonly<Record<string, Reader>> = {
  'client-file': async (text) => {
    const env = new Proxy<Record<string, string>>({}, { get: () => 'value', has: () => true });
    const { backends, notes } = await readClientFile(text, '.mcp.json', { env, home: HOME, folder: HOME });
    if (notes.length > 0) throw new Error(notes.join('; '));
    if (backends.length === 0) throw new Error('the file has no servers');
  },
  'run-config': async (text) => {
    const read = readRunConfig(JSON.parse(text));
    if ('problems' in read) throw new Error(read.problems.join('; '));
  },
  'permission-profile': inFile(async (path) => {
    const read = await readProfile(path);
    if ('reason' in read) throw new Error(read.reason);
  }),
  'tools-override': inFile(async (path) => void (await readOverrides(path, '/'))),
  'authz-config': inFile(
    async (path) => void (await readOptionFile('--authz-config', path, '/', runConfig.shape.authz_config.unwrap())),
  ),
  'webhook-config': inFile(async (path) => void (await readOptionFile('--webhook-config', path, '/', webhookFile))),
  'user-config': inFile(async (path) => void (await readUserConfig(path))),
  'registry-file': async (text) => {
    const read = readRegistryDocument(text);
    if ('problem' in read) throw new Error(read.problem);
  },
  /** Arguments of `execute_tool_script`: the script compiles. */
  'script-arguments': async (text) => {
    const { script, data } = JSON.parse(text) as { script: string; data?: object };
    compileFunction(`return (async () => {${script}\n})`, ['data', ...Object.keys(data ?? {})]);
  },
};

function inFile(read: (path: string) => Promise<void>): Reader {
  return async (text) => {
    const folder = await mkdtemp(join(tmpdir(), 'toolmgr-docs-'));
    try {
      const path = join(folder, 'block');
      await writeFile(path, text);
      parse(text);
      await read(path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}
