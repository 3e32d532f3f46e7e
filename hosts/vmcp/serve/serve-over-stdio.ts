import type { Gateway } from '@toolmgr/core';
import { exitSoon } from '../../shared/exit-soon.ts';
import type { GatewayLog } from '../../shared/gateway-log/index.ts';
import { showStarts } from '../../shared/gateway-log/show-starts.ts';
import { serveControl } from '../../shared/running/serve-control.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { serveStdio } from '../../stdio/serve-stdio.ts';
import { takeStdout } from '../../stdio/take-stdout.ts';
import { factsOf } from '../facts.ts';
import { type ConfigSource, fileOf, followFile } from './config-source.ts';
import { logBackends } from './log-backends.ts';
import { type OpenGateway, switchTo } from './open-gateway.ts';
import { levelOf, type ServeOptions } from './options.ts';

/** What is served over standard input and output. */
export interface StdioParts {
  readonly options: ServeOptions;
  readonly source: ConfigSource;
  readonly open: OpenGateway;
  readonly gatewayLog: GatewayLog;
}

/**
 * Serves a source to one client over standard input and output until the client ends or a signal; nothing listens.
 * @throws UsageError when the configuration requires tokens, which this transport does not carry
 */
export async function serveOverStdio({ options, source, open, gatewayLog }: StdioParts): Promise<void> {
  const { log } = gatewayLog;
  if (factsOf(source.config, source.sections).callers === 'token') {
    throw new UsageError(
      '--stdio has no headers for tokens: it serves files with incomingAuth.type anonymous or local; this one requires tokens',
    );
  }
  if (source.config.statusPages !== undefined) log.warn('statusPages has no effect with --stdio: nothing listens');
  const output = takeStdout();
  using stop = stopSignal(['SIGINT', 'SIGTERM']);
  const { gateway, plan } = await open(source);
  await using gatewaySwitch = switchTo(gateway, log);
  void logBackends(gateway, log);
  const gatewayNow = (): Gateway => gatewaySwitch.current;
  showStarts({ gateway: gatewayNow, gatewayLog, say: (line) => log.info(line), signal: stop.signal });
  followFile(source, stop.signal, log, async (read) => {
    const next = await open(read, gatewaySwitch.current);
    gatewayLog.setLevel(levelOf(options, read.config));
    gatewaySwitch.exchange(next.gateway);
    for (const warning of read.warnings) log.warn(warning);
    log.info('configuration reloaded', { file: source.follow?.file ?? '' });
    void logBackends(next.gateway, log);
  });
  await using _control = await serveControl({
    ...{ gateway: gatewayNow, log, lines: gatewayLog, signal: stop.signal },
    about: { kind: 'vmcp serve --stdio', name: source.config.name, ...fileOf(source) },
  });
  await serveStdio({
    ...{ gateway, limits: plan.limits, log, output },
    input: process.stdin,
    signal: stop.signal,
  });
  await gatewaySwitch.stop();
  exitSoon();
}
