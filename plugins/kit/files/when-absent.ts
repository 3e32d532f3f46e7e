/** For `catch`: what is read of a file or a folder that is not there. Other errors stay. */
export function whenAbsent<T>(value: T): (cause: NodeJS.ErrnoException) => T {
  return (cause) => {
    if (cause.code === 'ENOENT') return value;
    throw cause;
  };
}
