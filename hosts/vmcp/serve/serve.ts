import { environmentSecrets } from '@toolmgr/plugins';
import { createCallFeed } from '../../http/recent-calls/feed.ts';
import { createGatewayLog } from '../../shared/gateway-log/index.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { frozenFileOf, sourceOf } from './config-source.ts';
import { gatewayOpener, planFlagsOf } from './open-gateway.ts';
import { levelOf, type ServeOptions } from './options.ts';
import { serveOverHttp } from './serve-over-http.ts';
import { serveOverStdio } from './serve-over-stdio.ts';

/**
 * Serves a vmcp file or a group until a signal stops it. The file is reloaded on change and on SIGHUP.
 * @throws UsageError and GatewayFault with a message for the user, before anything is served
 */
export async function serve(options: ServeOptions): Promise<void> {
  const source = await sourceOf(options);
  using gatewayLog = createGatewayLog({ level: levelOf(options, source.config), format: options.logFormat });
  const { log } = gatewayLog;
  using _ = logUnhandledRejections(log);
  const secrets = environmentSecrets(process.env);
  const flags = await planFlagsOf(options, secrets);
  const feed = options.page === true ? createCallFeed() : undefined;
  const sessionsMustMove = options.stdio === true; // its one client cannot open another
  const { baseDir, follow } = source;
  const importFile = follow?.modules.importFile;
  const open = gatewayOpener({ flags, baseDir, importFile, log, feed, sessionsMustMove, lock: frozenFileOf(options) });
  if (options.stdio === true) await serveOverStdio({ options, source, open, gatewayLog });
  else await serveOverHttp({ options, source, open, gatewayLog, secrets, feed });
}
