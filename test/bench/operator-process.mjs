// The operator of `bench:operator` from its build, connected like a pod: operator-process.mjs HOST PORT FOLDER METRICS_PORT
import { prepareEngine } from '../../hosts/dist/shared/engine.js';

prepareEngine();
const { startOperator } = await import('../../hosts/dist/vmcp/operator/operator.js');
const { settingsFrom } = await import('../../hosts/dist/vmcp/operator/settings.js');
const { inClusterConnection } = await import('@toolmgr/plugins/kit/kubernetes');

const [host, port, folder, metricsPort] = process.argv.slice(2);
const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
const note = (level) => (message, fields) => process.stderr.write(`${JSON.stringify({ level, message, ...fields })}\n`);
const operator = await startOperator({
  connection: await inClusterConnection({ env, folder }),
  settings: settingsFrom(process.env, { namespace: 'default', identity: 'bench' }),
  metrics: { host: '127.0.0.1', port: Number(metricsPort) },
  probes: { host: '127.0.0.1', port: Number(metricsPort) },
  leaderElect: true,
  concurrency: 4,
  log: { info: note('info'), warn: note('warn'), error: note('error') },
});
process.once('SIGTERM', () => void operator.stop().then(() => process.exit()));
