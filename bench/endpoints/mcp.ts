import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/** Agents of the workspace whose tools are listed. */
const AGENTS = 100

const VERSION = '2026-07-28'

/** Builds a request of the stateless version. */
export const mcpRequest = (method: string, params: Record<string, unknown> = {}) => ({
  headers: {
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  },
  body: {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': VERSION,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
})

/** Installs a caller and 100 agents with a tool in one workspace, and lists them once: later lists need fewer calls. */
export const workspaceOfAgents = async (stage: Stage) => {
  const caller = await stage.install()
  for (let n = 0; n < AGENTS; n++) await stage.installWithTool({ workspaceId: caller.workspaceId })
  await stage.call('POST', '/mcp', { token: caller.token, ...mcpRequest('tools/list') })
  return caller
}

const calling = (variant: string, method: string, params: Record<string, unknown>, isLarge = false): Scenario => ({
  endpoint: 'POST /mcp',
  variant,
  async prepare(stage) {
    const { token } = await (isLarge ? workspaceOfAgents(stage) : stage.install())
    return { send: () => stage.call('POST', '/mcp', { token, ...mcpRequest(method, params) }) }
  },
})

export const MCP_LIST = `tools/list, ${AGENTS} agents`
export const MCP_CALL = 'tools/call of list_runs'

export const mcpScenarios: readonly Scenario[] = [
  calling(MCP_LIST, 'tools/list', {}, true),
  calling(MCP_CALL, 'tools/call', { name: 'list_runs', arguments: {} }),
  {
    endpoint: 'POST /mcp',
    variant: 'tools/call of an agent’s tool, answered at once',
    async prepare(stage) {
      const { token, workspaceId } = await stage.install()
      const { app } = await stage.installWithTool({ workspaceId })
      const request = mcpRequest('tools/call', { name: `${app.slug}__greet`, arguments: { name: 'Ada' } })
      return { send: () => stage.call('POST', '/mcp', { token, ...request }), works: true }
    },
  },
]
