// `npm run pack -- [FOLDER]`: builds the workspaces and writes their tarballs into a folder.
import { resolve } from 'node:path';
import { packWorkspaces } from './pack/pack-workspaces.ts';

const into = resolve(process.env.INIT_CWD ?? '.', process.argv[2] ?? '.scratch/packages');
const tarballs = await packWorkspaces(into, (line) => console.error(`pack: ${line}`));
for (const { file, bytes } of tarballs) console.log(`${file} (${(bytes / 1e6).toFixed(2)} MB)`);
