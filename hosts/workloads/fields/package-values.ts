import { z } from 'zod';

const RESERVED: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'SHELL', 'PWD', 'HOSTNAME', 'TERM', 'LANG', 'LC_ALL', 'LD_PRELOAD', 'LD_LIBRARY_PATH'],
]);

/** Text that a shell or a Dockerfile reads as more than a value. */
const UNSAFE = /[`\\\n\r";|<>]|\$[({]|&&/;

// How the image of a package is made, in a body. Source: reference workload-api §2.7.

export const builderImage = z.string().max(512);

export const additionalPackages = z
  .array(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/,
        'expected a package name: at most 128 letters, digits, ".", "_", "+", "-", which starts with a letter or digit',
      ),
  )
  .max(128);

export const buildWith = z
  .array(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?([ ]?(==|!=|>=|<=|~=|>|<)[ ]?[A-Za-z0-9.*+!_-]+(,[ ]?(==|!=|>=|<=|~=|>|<)[ ]?[A-Za-z0-9.*+!_-]+)*)?$/,
        'expected a package and a version, such as pydantic<3',
      )
      .max(256),
  )
  .max(128);

export const runtimeEnv = z.record(
  z
    .string()
    .max(128)
    .regex(/^[A-Z][A-Z0-9_]*$/, 'expected an upper-case name')
    .refine((name) => !RESERVED.has(name), 'this variable is reserved'),
  z
    .string()
    .max(4_096)
    .refine((value) => !UNSAFE.test(value), {
      error: 'expected a value without backtick, $(, ${, backslash, line break, double quote, ;, &&, |, > and <',
    }),
);
