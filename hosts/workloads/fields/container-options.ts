import { permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { z } from 'zod';
import { readAmount, readBoolean, readMemory, readPair, readPublish, readRepeated } from './option-values.ts';
import { additionalPackages, buildWith } from './package-values.ts';
import type { RunOption } from './run-option.ts';

/** Options of images that are made of packages; `toolmgr build` has them too. */
export const PACKAGE_OPTIONS = [
  {
    flags: '--runtime-image <IMAGE>',
    stored: 'runtime_config.builder_image',
    description: 'base image (default: node:24-alpine, python:3.14-slim, golang)',
    body: { name: 'runtime_config.builder_image', says: 'base image of the build', accepts: z.string().max(512) },
  },
  {
    flags: '--runtime-add-package <NAME>',
    stored: 'runtime_config.additional_packages',
    description: 'package of apk or apt for the build and the server; may be repeated',
    read: readRepeated,
    body: {
      name: 'runtime_config.additional_packages',
      says: 'packages of the operating system',
      accepts: additionalPackages,
    },
  },
  {
    flags: '--build-with <REQUIREMENT>',
    stored: 'runtime_config.build_with',
    description: 'constraint of a dependency (PEP 508), for uvx:// only; may be repeated',
    read: readRepeated,
    body: {
      name: 'runtime_config.build_with',
      says: 'constraints of dependencies, for uvx:// packages',
      accepts: buildWith,
    },
  },
  {
    flags: '--ca-cert <FILE>',
    stored: 'build_ca_cert',
    as: 'path',
    description: 'PEM file with certificates that the build and the server trust',
  },
] as const satisfies readonly RunOption[];

/** Options of containers and of the packages in them, by help group. */
export const CONTAINER_OPTIONS = {
  'Containers:': [
    { flags: '-l, --label <KEY=VALUE>', description: 'label of the container; may be repeated', read: readPair },
    {
      flags: '--network <MODE>',
      description: 'network of the container: bridge, host, none or the name of one (default: bridge)',
    },
    {
      flags: '--isolate-network [BOOLEAN]',
      description:
        'isolate the container: it reaches only what the permission profile allows, and not this machine; not with --network ' +
        '(default: true)',
      read: readBoolean,
      stored: 'isolate_network',
      as: 'own',
      body: { name: 'network_isolation', says: 'default true for images', own: true },
    },
    {
      flags: '--allow-docker-gateway [BOOLEAN]',
      description: 'an isolated container may reach this machine at host.docker.internal, at any port (default: false)',
      read: readBoolean,
      stored: 'allow_docker_gateway',
      body: { name: 'allow_docker_gateway', says: 'the isolated container may reach the gateway of its network' },
    },
    {
      flags: '-p, --publish <PORTS>',
      stored: 'publish',
      description: 'publish hostPort:containerPort, or a container port at a free port; may be repeated',
      read: readPublish,
    },
    {
      flags: '-v, --volume <MOUNT>',
      description: 'mount host-path:container-path[:ro]; may be repeated',
      read: readRepeated,
      stored: 'volumes',
      as: 'own',
      body: { name: 'volumes', says: 'mounts: `host:container[:ro]`', own: true },
    },
    {
      flags: '--image-verification <MODE>',
      description:
        'signatures of images in the registry: warn (default) runs an image that is not verified, enabled refuses it, ' +
        'disabled checks nothing',
      choices: ['warn', 'enabled', 'disabled'],
    },
    {
      flags: '--permission-profile <PROFILE>',
      description:
        'none, network or a JSON file: mounts, network mode and rights of the container (default: network; a registry entry has its own)',
      stored: 'permission_profile',
      as: 'own',
      body: {
        name: 'permission_profile',
        says: 'rights of the container; default: profile `network`',
        accepts: permissionProfile,
        shows: permissionProfile.partial().describe('empty for what is no container'),
        own: true,
      },
    },
    {
      flags: '--memory <SIZE>',
      stored: 'resource_limits.memory',
      description: 'memory that the container may use, such as 512m; 0: no limit (default: 2g)',
      read: readMemory,
    },
    {
      flags: '--cpus <NUMBER>',
      stored: 'resource_limits.cpus',
      description: 'processors that the container may use, such as 1.5; 0: no limit (default: 2)',
      read: readAmount(/^\d{1,4}(\.\d{1,3})?$/, 'a number such as 1.5'),
    },
    {
      flags: '--pids-limit <NUMBER>',
      stored: 'resource_limits.pids',
      description: 'processes and threads that the container may have; 0: no limit (default: 1024)',
      read: readAmount(/^\d{1,6}$/, 'a whole number'),
    },
    {
      flags: '--read-only [BOOLEAN]',
      stored: 'read_only_root',
      description:
        'the container writes nowhere but to /tmp and mounts (default: what the label dev.toolmgr.read-only-root of the image says)',
      read: readBoolean,
    },
    {
      flags: '--ignore-globally [BOOLEAN]',
      description:
        'hide files of mounts by the .toolmgrignore in $XDG_CONFIG_HOME/toolmgr too, beside that of the mount (default: true)',
      read: readBoolean,
    },
    {
      flags: '--print-resolved-overlays [BOOLEAN]',
      description: 'print the container paths that ignore files hide (default: false)',
      read: readBoolean,
    },
  ],
  'Packages (uvx://, npx://, go://) in containers:': PACKAGE_OPTIONS,
} as const satisfies Readonly<Record<string, readonly RunOption[]>>;
