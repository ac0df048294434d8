import path from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { MODEL_KEY } from '#testkit/model-server.ts'
import { using, usingModel } from '#testkit/using.ts'
import { must, until } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from '../python/environment.ts'
import { askedAgent, startServer, TURNS } from './support.ts'

/** MLflow refuses spans that name no experiment. Each server has one with this id. */
const EXPERIMENT = '0'

const span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  name: 'look',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
}

removingEnvironments()
const mlflow = using(
  async () => {
    const { folder, python } = await environmentOf('mlflow', ['mlflow==3.17.2'])
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}`
    // Its first export takes longer than the second that the platform waits.
    const takesSpans = async () =>
      (
        await fetch(`${url}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-mlflow-experiment-id': EXPERIMENT },
          body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
        })
      ).ok
    const store = ['--backend-store-uri', `sqlite:///${folder}/mlflow.db`, '--artifacts-destination', folder]
    const args = ['server', '--host', '127.0.0.1', '--port', port, '--workers', '1', ...store]
    const server = await startServer(path.join(path.dirname(python), 'mlflow'), args, takesSpans, {
      MLFLOW_DISABLE_TELEMETRY: 'true',
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false',
    })
    return { url, stop: server.stop }
  },
  (server) => server.stop(),
)
const model = usingModel()
const running = usingOwnLocal(() => ({
  shell: {
    MODEL_API_URL: model.url,
    MODEL_NAME: 'small',
    MODEL_API_KEY: MODEL_KEY,
    TRACES_ENDPOINT: mlflow.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-mlflow-experiment-id=${EXPERIMENT}`,
  },
}))

interface MlflowSpan {
  name: string
  span_id: string
  parent_span_id?: string
  attributes: { key: string; value: { string_value?: string } }[]
}

const attributeOf = (one: MlflowSpan | undefined, name: string) =>
  one?.attributes.find(({ key }) => key === name)?.value.string_value

const tracesOfSession = async (session: string) => {
  const location = { type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: EXPERIMENT } }
  const filter = `metadata.\`mlflow.trace.session\` = '${session}'`
  const found = await must(mlflow.url, 'POST', '/api/3.0/mlflow/traces/search', {
    body: { locations: [location], filter },
  })
  return (found.traces ?? []) as { trace_id: string; trace_metadata: Record<string, string> }[]
}

const spansOf = async (trace: string) =>
  (await must(mlflow.url, 'GET', `/api/3.0/mlflow/traces/get?trace_id=${trace}`)).trace.spans as MlflowSpan[]

// The platform waits a second until a receiver has taken spans, so a busy one may miss some.
it('MLflow shows an agent, its tool and its model as such, with the tokens, in the session of the conversation', {
  retry: 3,
}, async () => {
  model.next(...TURNS)
  const { run, conversation } = await askedAgent(running)
  const { trace, spans } = await until(async () => {
    const [trace] = await tracesOfSession(conversation)
    const spans = trace ? await spansOf(trace.trace_id) : []
    return trace && spans.filter(({ name }) => name === 'chat small').length === 2 ? { trace, spans } : undefined
  }, 30_000)
  const agent = spans.find(({ name }) => name === 'invoke_agent Agent')
  expect(attributeOf(agent, 'platform.run_id')).toBe(run.id)
  expect(attributeOf(agent, 'mlflow.spanType')).toBe('AGENT')
  const parts = spans.flatMap((one) => {
    const type = attributeOf(one, 'mlflow.spanType')
    return one.parent_span_id === agent?.span_id && type !== undefined
      ? [[type, one.name, attributeOf(one, 'mlflow.llm.model')]]
      : []
  })
  expect(parts.sort()).toEqual([
    ['CHAT_MODEL', 'chat small', 'small'],
    ['CHAT_MODEL', 'chat small', 'small'],
    ['TOOL', 'execute_tool workspace_info', undefined],
  ])
  expect(JSON.parse(trace.trace_metadata['mlflow.trace.tokenUsage'] ?? '')).toEqual({
    input_tokens: 80,
    output_tokens: 12,
    total_tokens: 92,
    cache_read_input_tokens: 50,
  })
})
