import path from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { MODEL_KEY } from '#testkit/model-server.ts'
import { using, usingModel } from '#testkit/using.ts'
import { must, until } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { askedAgent, startServer, TURNS } from './support.ts'

removingEnvironments()
const phoenix = using(
  async () => {
    const { folder, python } = await environmentOf('phoenix', ['arize-phoenix==20.26.1'])
    const [port, grpc] = [await freePort(), await freePort()]
    const url = `http://127.0.0.1:${port}`
    const program = path.join(path.dirname(python), 'phoenix')
    // Its first export takes longer than the second that the platform waits.
    const takesSpans = async () =>
      (await fetch(`${url}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/x-protobuf' } })).ok
    const server = await startServer(program, ['serve'], takesSpans, {
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpc),
      PHOENIX_TELEMETRY_ENABLED: 'false',
    })
    return { url, stop: server.stop }
  },
  (server) => server.stop(),
)
const model = usingModel()
const running = usingOwnLocal(() => ({
  shell: { MODEL_API_URL: model.url, MODEL_NAME: 'small', MODEL_API_KEY: MODEL_KEY, TRACES_ENDPOINT: phoenix.url },
}))

interface PhoenixSpan {
  id: string
  name: string
  span_kind: string
  parent_id: string | null
  context: { trace_id: string; span_id: string }
  attributes: Record<string, unknown>
}

const list = async (what: string) =>
  (await must(phoenix.url, 'GET', `/v1/projects/default/${what}?limit=500`)).data as PhoenixSpan[]

// The platform waits a second until a receiver has taken spans, so a busy one may miss some.
it('Phoenix shows an agent, its tool and its model as such, with the tokens, in the session of the conversation', {
  retry: 3,
}, async () => {
  model.next(...TURNS)
  const { run, conversation } = await askedAgent(running)
  const spans = await until(async () => {
    const all = await list('spans')
    const own = all.find(({ attributes }) => attributes['platform.run_id'] === run.id)
    const ofTrace = all.filter(({ context }) => context.trace_id === own?.context.trace_id)
    return ofTrace.filter(({ name }) => name === 'chat small').length === 2 ? ofTrace : undefined
  }, 30_000)
  const agent = spans.find(({ name }) => name === 'invoke_agent Agent')
  expect(agent).toMatchObject({ span_kind: 'AGENT', attributes: { 'session.id': conversation } })
  const parts = spans.filter(
    ({ parent_id, span_kind }) => parent_id === agent?.context.span_id && span_kind !== 'UNKNOWN',
  )
  expect(parts.map(({ name, span_kind }) => [span_kind, name]).sort()).toEqual([
    ['LLM', 'chat small'],
    ['LLM', 'chat small'],
    ['TOOL', 'execute_tool workspace_info'],
  ])
  expect(parts.find(({ span_kind }) => span_kind === 'TOOL')?.attributes).toMatchObject({
    'tool.name': 'workspace_info',
  })
  expect(parts.find(({ attributes }) => attributes['llm.finish_reason'] === 'stop')?.attributes).toMatchObject({
    'llm.model_name': 'small',
    'llm.token_count.prompt': 70,
    'llm.token_count.completion': 7,
    'llm.token_count.total': 77,
    'llm.token_count.prompt_details.cache_read': 50,
  })
  const sessions = (await list('sessions')) as unknown as { session_id: string }[]
  expect(sessions.map(({ session_id }) => session_id)).toContain(conversation)
})
