import { launchAgent, systemdUnit } from '../../hosts/manager/install/unit-text.ts';

/** A unit of systemd and an agent of launchd that keep a gateway running. */
interface GatewayUnit {
  readonly name: string;
  readonly description: string;
  /** Arguments of toolmgr. */
  readonly args: readonly string[];
}

const UNITS: readonly GatewayUnit[] = [
  {
    name: 'toolmgr-vmcp',
    description: 'toolmgr gateway of a vmcp file',
    args: ['vmcp', 'serve', '--config', '/etc/toolmgr/vmcp.yaml', '--watch'],
  },
  {
    name: 'toolmgr-up',
    description: 'toolmgr gateway of a client configuration',
    args: ['up', '/etc/toolmgr/mcp.json', '--watch'],
  },
];

const NOTE = 'an example: set the paths, and add the variables that the backends need';

/** The files below `deploy/` by path. `program`: the command of toolmgr on the machine. */
export function gatewayUnits(program = '/usr/bin/toolmgr'): ReadonlyMap<string, string> {
  return new Map(
    UNITS.flatMap(({ name, description, args }) => {
      const label = `dev.${name.replace('-', '.')}`;
      const subject = { note: NOTE, description, label, leavesPrograms: false };
      const start = { command: [program, ...args], env: { PATH: PATHS }, log: `/tmp/${name}.log` };
      return [
        [`deploy/systemd/${name}.service`, systemdUnit(start, subject)] as const,
        [`deploy/launchd/${label}.plist`, launchAgent(start, subject)] as const,
      ];
    }),
  );
}

const PATHS = '/usr/local/bin:/usr/bin:/bin';
