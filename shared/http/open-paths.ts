const CONNECT = ['/connect/token', '/connect/revoke', '/connect/register']

/** Returns true for the APIs that any origin may call, without credentials (contract/general.md#browsers). */
export const isOpenToBrowsers = (path: string): boolean =>
  path.startsWith('/api/v1/') ||
  /^\/(mcp|a2a)(\/|$)/.test(path) ||
  /^(\/connect)?\/\.well-known\//.test(path) ||
  CONNECT.includes(path)
