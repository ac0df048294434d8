import { json } from 'node:stream/consumers'
import { bearer, demoClient, type Json, registerDeveloper, type StepLog, until } from './client.ts'
import { startServer } from './server.ts'

export interface McpJourneyOptions {
  baseUrl: string
  /** Stops the platform and starts it again with the same data. */
  restart(): Promise<void>
  log?: StepLog
}

const VERSION = '2026-07-28'
const OWN = 'io.modelcontextprotocol'

/** Client of an MCP server that follows tasks: version 2026-07-28 has no sessions, so each request says all that it needs. */
const mcpClient = (url: string, token: string) => {
  let id = 0
  const request = async (method: string, params: Record<string, unknown> = {}): Promise<Json> => {
    const name = params.name ?? params.taskId
    const _meta = {
      [`${OWN}/protocolVersion`]: VERSION,
      [`${OWN}/clientCapabilities`]: { extensions: { [`${OWN}/tasks`]: {} } },
    }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } }),
    })
    const text = await response.text()
    // An answer that takes longer comes at the end of an event stream.
    const [last = text] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data).slice(-1)
    const { result, error } = JSON.parse(last)
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }
  return {
    request,
    /** Reads a task until it has ended, or `done` says so. Survives a platform that is down for a moment. */
    follow(taskId: string, done = (task: Json): boolean => ENDED.includes(task.status)): Promise<Json> {
      const readTask = () =>
        request('tasks/get', { taskId }).catch((error: Error) => {
          if (error instanceof TypeError || error instanceof SyntaxError) return undefined
          throw error
        })
      return until(`The task ${taskId}`, readTask, (task) => task && done(task))
    },
  }
}

const ENDED = ['completed', 'failed', 'cancelled']

/** Agent that reads pages. It calls the platform's tools over MCP, with its run's token, and waits for the person as a task. */
const startReader = () =>
  startServer(async (request, response) => {
    if (request.method === 'GET') return void response.end('The content of the page.')
    const execute = await json(request)
    response.writeHead(202).end()
    read(execute).catch((error: unknown) => console.error('The sample agent failed:', error))
  })

const read = async ({ run, callback }: Json): Promise<void> => {
  const platform = mcpClient(callback.mcp_url, callback.token)
  const asked = await platform.request('tools/call', { name: 'http_fetch', arguments: { url: run.input.url } })
  const { result } = await platform.follow(asked.taskId)
  await fetch(`${callback.base_url}/runs/${run.id}/complete`, {
    method: 'POST',
    headers: { authorization: `Bearer ${callback.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(
      result.isError
        ? { status: 'failed', error_code: 'not_allowed', error_message: 'The person rejected the call.' }
        : { status: 'succeeded', output: { page: result.structuredContent.body } },
    ),
  })
}

/**
 * Shows an MCP client: it lists tools and calls an agent, whose dangerous tool waits for a person as a task. The platform is
 * restarted, the person approves, and the client gets the result.
 * @throws at the first unexpected response
 */
export const runMcpJourney = async ({ baseUrl, restart, log }: McpJourneyOptions): Promise<Json> => {
  const reader = await startReader()
  const demo = demoClient(baseUrl, log)
  const { unique, step, call } = demo
  try {
    const { developer, install } = await registerDeveloper(demo)
    const runtime = { type: 'webhook', endpoint: reader.url }
    const slug = `reader-${unique}`
    const tool = {
      name: 'read_page',
      description: 'Reads a page.',
      input_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      mcp: { annotations: { readOnlyHint: true }, task: 'always' },
    }
    await install('reader', { runtime, tools: [tool] })
    const token = await install('assistant', { runtime, tools: [] })
    step('A developer installs two agents in the sandbox', slug)

    const client = mcpClient(`${baseUrl}/mcp`, token)
    const { supportedVersions } = await client.request('server/discover')
    const { tools } = await client.request('tools/list')
    step('An MCP client discovers the server and lists its tools', `${supportedVersions}: ${tools.length} tools`)

    const name = `${slug}__read_page`
    const task = await client.request('tools/call', { name, arguments: { url: `${reader.url}/page` } })
    step(`It calls ${name}, which becomes a task`, task.taskId)

    const waiting = await client.follow(task.taskId, ({ statusMessage }) => statusMessage !== undefined)
    step('The agent calls http_fetch over MCP with its own token', waiting.statusMessage)

    await restart()
    step('The platform stops and starts again')

    const session = await call('POST', '/api/v1/dev/sandbox/session', developer, { as: 'owner' })
    const person = bearer(session.token)
    const run = await call('GET', `/console/runs/${task.taskId}`, person)
    const approval = run.steps.find(({ type }: Json) => type === 'approval')
    await call('POST', `/console/runs/${run.id}/steps/${approval.id}/decision`, person, { decision: 'approve' })
    step('A person approves the call in the console', approval.id)

    const { status, result } = await client.follow(task.taskId)
    if (status !== 'completed' || result.isError) throw new Error(`The task ended as ${JSON.stringify(result)}`)
    step('The client reads its task again and gets the result', result.content[0].text)
    return result
  } finally {
    await reader.close()
  }
}
