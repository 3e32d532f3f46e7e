import type { Gateway } from '@toolmgr/core';
import type { GatewayLog } from '../../shared/gateway-log/index.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { stderr } from '../../shared/terminal.ts';
import { backendLine } from './backend-line.ts';

/** Prints what is served where, and the state of each backend, once the gateway is settled. */
export function printServed(gateway: Gateway, gatewayLog: GatewayLog, at: string, files: string): void {
  const tools = gateway.catalog().visible('tool');
  stderr.line(`${stderr.bold('toolmgr')} serves ${files} at ${stderr.bold(at)}`);
  for (const state of gateway.backends()) {
    const count = tools.filter((tool) => tool.backend === state.backend.name).length;
    const { name } = state.backend;
    const why = state.cause && gatewayLog.failureOf(name);
    stderr.line(`  ${name}  ${backendLine(state, count, why)}`);
    const said = state.cause === undefined ? [] : gatewayLog.lastWords(name);
    for (const line of said) stderr.line(`    ${stderr.dim(oneLine(line))}`);
  }
  gatewayLog.releaseFailures();
}

/** Prints what a person may do next. */
export function printHints(url: string, watched: boolean): void {
  stderr.line(`try it: ${ownCommand(`tools --url ${url}`)}`);
  stderr.line(`the page with its tools: ${new URL('/', url)}`);
  stderr.line(
    watched
      ? 'the file is reloaded when it changes; Ctrl-C stops'
      : 'Ctrl-C stops; --watch reloads the file when it changes',
  );
}
