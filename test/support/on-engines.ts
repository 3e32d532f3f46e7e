import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  type ContainerEngine,
  ENGINES,
  type EngineName,
  engineMissing,
  importServerImage,
  startEngine,
} from './container-engine.ts';
import { type Proves, proves } from './proves.ts';

/** Time limit in ms of tests that start containers. */
export const LONG = 120_000;

/** What the tests of one engine need. */
export interface EngineTests {
  readonly name: EngineName;
  /** The engine, with the image of the reference servers; started before the first test. */
  readonly engine: ContainerEngine;
  /** The variable that tells the runtime its socket. */
  readonly env: Readonly<Record<string, string>>;
  /** Declares a test; where the engine is missing it is skipped with the reason. */
  readonly runs: (sentence: string, test: () => unknown, timeoutMs?: number) => void;
  readonly proves: Proves;
}

/** Declares the same tests for each engine; `title` ends before the name of the engine. */
export function onEngines(title: string, tests: (engine: EngineTests) => void): void {
  describe.each(ENGINES)(`${title} %s`, (name) => {
    const missing = engineMissing(name);
    let engine: ContainerEngine | undefined;
    const started = (): ContainerEngine => engine ?? fail(`${name} is used before its tests`);

    beforeAll(async () => {
      if (missing !== undefined) return;
      engine = await startEngine(name);
      await importServerImage(engine);
    }, LONG);
    afterAll(() => engine?.[Symbol.asyncDispose](), LONG);

    tests({
      name,
      get engine() {
        return started();
      },
      get env() {
        return { [SOCKETS[name]]: started().socket };
      },
      runs: missing === undefined ? it : (sentence) => it.skip(`${sentence} (${missing})`, () => {}),
      proves: proves.skipIf(missing !== undefined, String(missing)),
    });
  });
}

const SOCKETS = { docker: 'TOOLMGR_DOCKER_SOCKET', podman: 'TOOLMGR_PODMAN_SOCKET' } as const;

function fail(message: string): never {
  throw new Error(message);
}
