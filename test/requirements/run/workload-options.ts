import type { Section } from '../section.ts';

/** Options of the run command about the workload and its runtime. */
export const workloadOptions = [
  {
    source: 'run spec §4 workload and runtime',
    says: {
      'run.option.name': '--name is a string and names the workload',
      'run.option.name-generated': 'without --name a name is generated from what is run',
      'run.option.group': '--group is a string and puts the workload into that group',
      'run.option.group-default': '--group is default when it is not given',
      'run.option.foreground': '--foreground, short -f, blocks until the workload exits',
      'run.option.foreground-default': '--foreground is false when it is not given',
      'run.option.env': '--env, short -e, is repeatable and sets KEY=VALUE',
    },
  },
  {
    source: 'run spec §4 workload and runtime',
    says: {
      'run.option.build-with-unsupported': '--build-with is an error for an ecosystem without constraint support',
      'run.option.ca-cert': '--ca-cert is the path of a custom CA certificate for container builds',
      'run.option.build-with': '--build-with is repeatable and sets a build-time dependency constraint',
      'run.option.build-with-uvx': 'for uvx:// --build-with is a PEP 508 specifier passed as an extra dependency',
      'run.option.runtime-add-package':
        '--runtime-add-package is repeatable and adds packages to the builder and runtime stages',
      'run.option.runtime-image': '--runtime-image overrides the base image of protocol schemes',
      'run.option.env-file': '--env-file is a string and loads variables from one file',
      'run.option.env-file-dir': '--env-file-dir is a string and loads variables from all files of a directory',
      'run.option.from-config': '--from-config is a string and loads an exported file',
      'run.option.secret': '--secret is repeatable and takes NAME,target=TARGET',
      'run.option.secret-into-env': '--secret puts a secret of the secrets provider into an environment variable',
      'run.option.debug': '--debug is an inherited boolean that turns debug mode on',
    },
  },
  {
    source: 'run spec §4 workload and runtime, containers',
    says: {
      'run.option.isolate-network': '--isolate-network is a boolean, true by default',
      'run.option.allow-docker-gateway': '--allow-docker-gateway is a boolean, false by default',
      'run.option.allow-docker-gateway-hosts':
        '--allow-docker-gateway opens the gateway names of the container host and 172.17.0.1',
      'run.option.allow-docker-gateway-needs-isolation': '--allow-docker-gateway works only with --isolate-network',
      'run.option.allow-docker-gateway-blocked':
        'gateway access is blocked by default even when the profile allows all outbound',
      'run.option.allow-docker-gateway-ports': 'gateway access ignores the allowed ports of the profile',
      'run.option.ignore-globally': '--ignore-globally is a boolean, true by default',
      'run.option.ignore-globally-file': '--ignore-globally loads the ignore file of the user configuration directory',
      'run.option.print-resolved-overlays':
        '--print-resolved-overlays is a boolean, false by default, and shows the container paths of tmpfs overlays',
      'run.option.label': '--label, short -l, is repeatable and sets a container label key=value',
      'run.option.network': '--network is a string, bridge by default',
      'run.option.network-drops-isolation':
        'host and none networks cannot enforce isolation, so isolation is dropped for them',
      'run.option.isolate-network-opt-out': '--isolate-network=false opts out of network isolation',
      'run.option.publish': '--publish, short -p, is repeatable and takes hostPort:containerPort',
      'run.option.volume': '--volume, short -v, is repeatable and takes host-path:container-path[:ro]',
      'run.option.image-verification': '--image-verification takes warn, enabled or disabled',
      'run.option.image-verification-default': '--image-verification is warn by default',
      'run.option.permission-profile': '--permission-profile takes none, network or a path to a JSON file',
      'run.option.permission-profile-default': 'the permission profile is that of the registry, else network',
    },
  },
] as const satisfies readonly Section[];
