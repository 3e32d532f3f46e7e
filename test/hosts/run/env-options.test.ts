import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseVariables } from '../../../hosts/workloads/config/env-files.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { planned } from './planned-gateway.ts';

const folder = temporaryFolderOfFile('env');

beforeAll(async () => {
  await mkdir(join(folder, 'vars/more'), { recursive: true });
  await writeFile(join(folder, 'vars/a'), 'A=dir-a\nB=dir-a\nC=dir-a\nD=dir-a\n');
  await writeFile(join(folder, 'vars/b'), 'B=dir-b\nC=dir-b\nD=dir-b\n');
  await writeFile(join(folder, 'vars/.hidden'), 'HIDDEN=1\n');
  await writeFile(join(folder, 'vars/more/c'), 'NESTED=1\n');
  await writeFile(join(folder, 'one.env'), 'C=file\nD=file\n');
});

describe('files of environment variables', () => {
  proves('run.option.env-file', 'have one KEY=VALUE per line, and nothing else is read', () => {
    const text = '# A=0\n\n  export A=1  \nB = x y\nC="q"\nD=$A\nE=a=b\nF=\nno sign\r\nG=crlf\r\nexport=x\n#H=1';
    expect(parseVariables(text)).toEqual({
      A: '1',
      B: 'x y',
      C: '"q"',
      D: '$A',
      E: 'a=b',
      F: '',
      G: 'crlf',
      export: 'x',
    });
  });

  proves(
    ['run.option.env-file', 'run.option.env-file-dir'],
    'give a program its variables: --env wins over --env-file, which wins over --env-file-dir',
    async () => {
      const flags = ['--env-file-dir', 'vars', '--env-file', 'one.env', '--env', 'D=flag'];
      const { config, plan, warnings } = await planned([...flags, 'node'], folder);
      expect(config.env_vars).toEqual({ A: 'dir-a', B: 'dir-b', C: 'file', D: 'flag' });
      expect(config.env_file_dir).toBe(join(folder, 'vars'));
      expect(JSON.stringify(plan.plugins)).toContain('"env":{"A":"dir-a","B":"dir-b","C":"file","D":"flag"');
      expect(warnings).toEqual([]);
    },
  );

  it('warn about a folder that is missing, and refuse a file that is missing or has no use', async () => {
    expect((await planned(['--env-file-dir', 'none', 'node'], folder)).warnings.join()).toContain(
      'none cannot be read',
    );
    await expect(planned(['--env-file', 'none', 'node'], folder)).rejects.toThrow(/--env-file none cannot be read/);
    for (const flag of ['--env-file', '--env-file-dir'])
      await expect(planned([flag, 'x', 'https://x.example/mcp'], folder)).rejects.toThrow(`${flag} is for programs`);
  });
});
