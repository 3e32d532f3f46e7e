// What an app may import from the package: everything else of it is the program.
export { type LoadedVmcpFile, type LoadVmcpFileOptions, loadVmcpFile } from './vmcp/load-vmcp-file.ts';
