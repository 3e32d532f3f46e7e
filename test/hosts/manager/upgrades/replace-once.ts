// Replaces the last argument of a workload: `node replace-once.ts NAME ARGUMENT`.
import { replaceWorkload } from '../../../../hosts/workloads/planning/replace.ts';
import { stateDir } from '../../../../plugins/kit/files/state-dir.ts';
import { readWorkload } from '../../../../plugins/kit/workloads/state/workload-record.ts';

const [, , name = '', argument = ''] = process.argv;
const record = await readWorkload(stateDir(process.env), name);
if (record?.config === undefined) throw new Error(`there is no ${name}`);
const { config } = record;
const next = { ...config, cmd_args: [...config.cmd_args.slice(0, -1), argument] };
const work = { signal: new AbortController().signal, report: () => {}, supervised: true };
const replaced = await replaceWorkload(stateDir(process.env), { config: next, secrets: {} }, work);
process.exitCode = replaced.kind === 'replaced' ? 0 : 1;
