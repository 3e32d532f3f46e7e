// Applications that are MCP clients: where their configuration files are, and how entries are written into them.

