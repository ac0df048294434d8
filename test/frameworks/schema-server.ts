import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { GENERATED_SCHEMAS } from '../shared/catalogue/manifests/generated-schemas.ts'
import { DIALECTS, suiteTools } from '../shared/kernel/json-schema/suite-tools.ts'

/** Schemas of the JSON Schema Test Suite and of schema libraries, as they are listed. Each is a tool's. */
export const listedSchemas = (): Map<string, object> => {
  const generated = Object.values(GENERATED_SCHEMAS).flatMap((schemas) => Object.values(schemas))
  const suite = Object.entries(DIALECTS).flatMap(([name, $schema]) =>
    suiteTools(name, $schema).map(({ whole }) => whole),
  )
  const distinct = new Set([...generated, ...suite].map((schema) => JSON.stringify(portableSchema({ ...schema }))))
  return new Map([...distinct].map((schema, i) => [`tool_${i}`, JSON.parse(schema)]))
}

/** Starts an MCP server whose list of tools has these schemas, on one page. */
export const startSchemaServer = async (schemas: ReadonlyMap<string, object>) => {
  const server = await startReceiver()
  const tools = [...schemas].map(([name, inputSchema]) => ({ name, description: 'A tool.', inputSchema }))
  server.answer(async ({ body }) => {
    const { id, method, params } = JSON.parse(body.toString() || '{}')
    if (id === undefined) return { kind: 'answer', status: method === undefined ? 405 : 202 }
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'schemas', version: '1.0.0' },
      },
      'tools/list': { tools },
      ping: {},
    }
    const result = results[method]
    return {
      kind: 'answer',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id,
        ...(result ? { result } : { error: { code: -32601, message: `No ${method} here.` } }),
      }),
    }
  })
  return { url: `${server.url}/mcp`, close: () => server.close() }
}
