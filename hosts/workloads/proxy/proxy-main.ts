// The detached proxy of one workload: `node proxy-main.ts NAME GENERATION [keeps-port]`, with the state folder in TOOLMGR_STATE_DIR.
import { join } from 'node:path';
import { createLog, explainCause } from '@toolmgr/core';
import { openLogFile, stateDir } from '@toolmgr/plugins/kit/files';
import { changeStatus, readWorkload, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { prepareEngine } from '../../shared/engine.ts';
import { readPassedKey } from '../secrets/pass-key.ts';
import { encryptedOfProcess } from '../secrets/process-secrets.ts';
import { runProxy } from './proxy.ts';
import { PROXY_REFUSED } from './proxy-refused.ts';

prepareEngine();
const state = stateDir(process.env);
const [, , name = '', generation, keepsPort] = process.argv;
process.title = `toolmgr proxy ${name}`;
const file = openLogFile(join(workloadDir(state, name), WORKLOAD_FILES.proxyLog));
const config = (await readWorkload(state, name))?.config;
const log = createLog(config?.debug === true ? 'debug' : 'info', (line) => file.write(line));
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());

process.on('uncaughtException', (cause) => {
  log.error('the proxy crashed', { workload: name, reason: explainCause(cause), stack: cause.stack ?? '' });
  const message = `its proxy crashed: ${explainCause(cause)}`;
  void changeStatus(state, name, ({ status }) =>
    status.proxy?.pid === process.pid
      ? { status: 'error', message, ...(status.runId === undefined ? {} : { runId: status.runId }) }
      : undefined,
  ).finally(() => process.exit(1));
});

encryptedOfProcess(await readPassedKey(process.stdin), (line) => log.warn(line));
log.info('the proxy starts', { workload: name, pid: process.pid });
const end = await runProxy({
  ...{ state, name, log, signal: stopping.signal },
  ...(generation === undefined ? {} : { generation: Number(generation) }),
  keepsPort: keepsPort === 'keeps-port',
});
const { status, message: reason, ...more } = { message: undefined, ...end };
log.info('the proxy ended', { workload: name, status, ...(reason === undefined ? {} : { reason }), ...more });
file.close();
process.exit(end.status === 'stopped' ? 0 : end.status === 'refused' ? PROXY_REFUSED : 1);
