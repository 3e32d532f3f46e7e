/** The backends of a configuration file. */
export type Backends = 'one' | 'three';

/**
 * Another gateway: how it is installed and started in front of the echo backend. Placeholders in commands: `{home}` is the folder of the
 * installation, `{files}` the folder of its configuration, `{backends}` is `one` or `three`, `{port}` its port.
 */
export interface Peer {
  readonly language: string;
  readonly version: string;
  readonly source: string;
  /** What is set, and what is left at its default: for readers of the results. */
  readonly settings: string;
  /** Commands that install it, one after the other. */
  readonly install: readonly (readonly string[])[];
  readonly start: readonly string[];
  /** Path of its MCP endpoint. */
  readonly path: string;
  readonly ports: Readonly<Record<Backends, number>>;
  /** Variables of one start. */
  environment?(): Environment;
  /** Registers the backends of a gateway that reads no file, as soon as it accepts connections. */
  register?(running: Running): Promise<void>;
}

/** A started gateway. */
export interface Running {
  readonly home: string;
  readonly origin: string;
  readonly backends: Backends;
  readonly environment: Environment;
}

export type Environment = Readonly<Record<string, string>>;
