import { ownCommand } from '../../shared/own-command.ts';
import { missingProductFeatures } from '../../shared/product-features.ts';
import { type Check, type Finding, ok, warn } from './checks.ts';

/** Optional packages, each feature by itself with `listsAll`, and the terminal. */
export function packageChecks(env: NodeJS.ProcessEnv, listsAll: boolean): readonly Check[] {
  return [
    { name: 'optional packages', run: async () => packageFindings(listsAll) },
    { name: 'terminal', run: async () => terminalFinding(env) },
  ];
}

function packageFindings(listsAll: boolean): readonly Finding[] {
  const missing = missingProductFeatures();
  if (missing.length === 0) return [ok('all are installed')];
  if (!listsAll) {
    const features = missing.length === 1 ? '1 optional feature needs' : `${missing.length} optional features need`;
    return [ok(`${features} packages that are not installed; see which: ${ownCommand('doctor --all')}`)];
  }
  return missing.map(({ feature, missing: names, command }) =>
    warn(`${feature}: ${names.join(', ')} not installed`, `if you need it: ${command}`),
  );
}

function terminalFinding(env: NodeJS.ProcessEnv): Finding {
  const { isTTY, columns } = process.stdout;
  if (isTTY !== true) return ok('output is not a terminal, so there are no colours');
  if (columns !== undefined && columns < MIN_COLUMNS)
    return warn(
      `only ${columns} columns wide`,
      `widen it to at least ${MIN_COLUMNS} columns; narrower tables are wrapped`,
    );
  return ok(`${columns} columns${env.NO_COLOR ? ', NO_COLOR is set' : ''}`);
}

const MIN_COLUMNS = 60;
