/** Addresses of packages (`npx://`, `uvx://`, `go://`) and their versions. */
export { type NewestPackage, newestPackage } from './newest-package.ts';
export { type Environment, packageSettings } from './package-settings.ts';
export { type PythonPackage, readRequirement, requirementText } from './python-package.ts';
export { isFloating, isSchemeTarget, nameOfTarget, readScheme, type SchemeTarget } from './scheme-target.ts';
export { compareTexts, compareVersions, isVersion } from './versions.ts';
