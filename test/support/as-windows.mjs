// Loaded before the product: it takes this system for Windows.
Object.defineProperty(process, 'platform', { value: 'win32' });
