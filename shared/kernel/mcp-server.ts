import type { Settings } from './settings.ts'

/** Name, title and version of an MCP server, the same in its card and in its answers. */
export interface McpIdentity {
  name: string
  /** Absent at the server of one agent, whose card has the title of the app. */
  title?: string
  version: string
}

const VERSION = '1.0.0'

/** Versions of the protocol that `/mcp` speaks, newest first. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18'] as const

/** Returns the labels of a host in reverse order, with which names of servers begin. An IP address keeps its order. */
const reversed = (host: string): string =>
  /^[\d.]+$/.test(host) || host.startsWith('[') ? host.replaceAll(/[^\w.-]/g, '-') : host.split('.').reverse().join('.')

/**
 * Returns the identity of the MCP server at `/mcp`, or of that of one agent. A dot separates an agent's slug, which has none, so that
 * no agent is named like the platform's own server.
 */
export const mcpIdentity = ({ baseUrl, brand }: Pick<Settings, 'baseUrl' | 'brand'>, slug?: string): McpIdentity => {
  const host = reversed(new URL(baseUrl).hostname)
  return slug === undefined
    ? { name: `${host}/mcp`, title: brand.name, version: VERSION }
    : { name: `${host}/agents.${slug}`, version: VERSION }
}
