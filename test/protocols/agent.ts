import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { startReceiver } from '#testkit/receiver.ts'
import { must } from '../e2e/support.ts'
import { answerKit } from './kit.ts'

/** A request that the agent receives. */
// biome-ignore lint/suspicious/noExplicitAny: a fixture reads bodies of every shape
type Execute = any

type Behaviour = (execute: Execute) => unknown

const text = (words: string): object => ({ type: 'text', text: words })
const shaped = (...content: object[]) => ({ status: 'succeeded', output: { $mcp: { content } } })
const says = (words: string) => shaped(text(words))
const asks = (input_requests: object) => ({ status: 'input_required', input_requests })

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const elicit = (message: string, properties: object, required = Object.keys(properties)) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, required } },
})
const sample = (words: string) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(words) }], maxTokens: 100 },
})
const ROOTS = { method: 'roots/list', params: {} }

/** Answers with questions, and, once they are answered, with what they brought. */
const asking =
  (questions: (execute: Execute) => object, then: (input: Execute, execute: Execute) => unknown): Behaviour =>
  (execute) =>
    execute.resume ? then(execute.resume.input, execute) : asks(questions(execute))

const STRING = { type: 'string' }
const OK = { ok: { type: 'boolean' } }
const elicited = ({ action, content }: Execute): string =>
  `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}

const OPTIONS = ['option1', 'option2', 'option3']
const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
]
const ENUMS = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
}

interface Tool {
  input?: object
  /** Further keywords of the input's schema. */
  schema?: object
  required?: string[]
  mcp?: object
  behaves: Behaviour
}

/** A step for each entry, with a pause between them, then the end of the run. */
const reporting =
  (steps: { type: string; output: object }[]): Behaviour =>
  (execute) =>
    later(execute, async (report) => {
      for (const step of steps) {
        await report('steps', step)
        await pause(60)
      }
      return says('Done.')
    })

const log = (words: string) => ({ type: 'log', output: { level: 'info', data: words, logger: 'conformance' } })
const progress = (done: number) => ({ type: 'progress', output: { progress: done, total: 100 } })

/** Answers 202, works, and completes the run through the API. */
const later = (
  { callback, run }: Execute,
  work: (report: (resource: string, body: object) => Promise<unknown>) => Promise<object>,
): undefined => {
  const post = async (resource: string, body: object) => {
    const response = await fetch(`${callback.base_url}/runs/${run.id}/${resource}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${callback.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return response.status
  }
  // The run may have been cancelled meanwhile.
  work(post).then(
    (answer) => post('complete', answer),
    () => {},
  )
}

/** Pauses that end with the agent. */
const wait = (seconds: number, signal: AbortSignal) => pause(seconds * 1_000, undefined, { signal })

const TOOLS = (end: AbortSignal): Record<string, Tool> => ({
  test_simple_text: { behaves: () => says('This is a simple text response for testing.') },
  test_image_content: { behaves: () => shaped({ type: 'image', data: PNG, mimeType: 'image/png' }) },
  test_audio_content: { behaves: () => shaped({ type: 'audio', data: WAV, mimeType: 'audio/wav' }) },
  test_embedded_resource: {
    behaves: () =>
      shaped({
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' },
      }),
  },
  test_multiple_content_types: {
    behaves: () =>
      shaped(
        text('Multiple content types test:'),
        { type: 'image', data: PNG, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
        },
      ),
  },
  test_error_handling: {
    behaves: () => ({ status: 'failed', error_message: 'This tool intentionally returns an error for testing' }),
  },
  test_tool_with_progress: { behaves: reporting([progress(0), progress(50), progress(100)]) },
  test_tool_with_logging: {
    behaves: reporting([log('Tool execution started'), log('Tool processing data'), log('Tool execution completed')]),
  },
  test_logging_tool: { behaves: reporting([log('Logging')]) },
  test_streaming_elicitation: {
    behaves: asking(
      () => ({ name: elicit('What is your name?', { name: STRING }) }),
      () => says('Thank you.'),
    ),
  },
  test_sampling: {
    input: { prompt: STRING },
    required: ['prompt'],
    behaves: asking(
      ({ arguments: { prompt } }) => ({ answer: sample(prompt) }),
      ({ answer }) => says(`LLM response: ${answer.content?.text}`),
    ),
  },
  test_elicitation: {
    input: { message: STRING },
    required: ['message'],
    behaves: asking(
      ({ arguments: { message } }) => ({ answer: elicit(message, { username: STRING, email: STRING }) }),
      ({ answer }) => says(`User response: ${JSON.stringify(answer)}`),
    ),
  },
  test_elicitation_sep1034_defaults: {
    behaves: asking(
      () => ({ answer: elicit('Please fill in the form', DEFAULTS, []) }),
      ({ answer }) => says(elicited(answer)),
    ),
  },
  test_elicitation_sep1330_enums: {
    behaves: asking(
      () => ({ answer: elicit('Please choose', ENUMS, []) }),
      ({ answer }) => says(elicited(answer)),
    ),
  },
  test_missing_capability: { mcp: { requires: ['sampling'] }, behaves: () => says('Sampling is there.') },
  test_input_required_result_elicitation: {
    behaves: asking(
      () => ({ user_name: elicit('What is your name?', { name: STRING }) }),
      ({ user_name }) => says(`Hello, ${user_name.content?.name}!`),
    ),
  },
  test_input_required_result_sampling: {
    behaves: asking(
      () => ({ capital_question: sample('What is the capital of France?') }),
      ({ capital_question }) => says(String(capital_question.content?.text)),
    ),
  },
  test_input_required_result_list_roots: {
    behaves: asking(
      () => ({ client_roots: ROOTS }),
      ({ client_roots }) => says(JSON.stringify(client_roots.roots)),
    ),
  },
  test_input_required_result_request_state: {
    behaves: asking(
      () => ({ confirm: elicit('Please confirm', OK) }),
      () => says('state-ok'),
    ),
  },
  test_input_required_result_tampered_state: {
    behaves: asking(
      () => ({ confirm: elicit('Please confirm', OK) }),
      () => says('state-ok'),
    ),
  },
  test_input_required_result_multiple_inputs: {
    behaves: asking(
      () => ({
        user_name: elicit('What is your name?', { name: STRING }),
        greeting: sample('Write a greeting.'),
        client_roots: ROOTS,
      }),
      (input) => says(JSON.stringify(input)),
    ),
  },
  test_input_required_result_multi_round: {
    behaves: ({ resume }) => {
      if (!resume) return asks({ step1: elicit('Step 1: What is your name?', { name: STRING }) })
      if (!resume.input.step2) return asks({ step2: elicit('Step 2: What is your favorite color?', { color: STRING }) })
      return says(`Your color is ${resume.input.step2.content?.color}.`)
    },
  },
  test_input_required_result_capabilities: {
    behaves: asking(
      ({ client_capabilities }) => ({
        ...(client_capabilities.sampling && { sampled: sample('Say something.') }),
        ...(client_capabilities.elicitation && { confirmed: elicit('Please confirm', OK) }),
      }),
      (input) => says(JSON.stringify(input)),
    ),
  },
  greet: {
    input: { name: STRING },
    mcp: { task: 'never' },
    behaves: ({ arguments: { name } }) => says(`Hello, ${name}!`),
  },
  slow_compute: {
    input: { seconds: { type: 'number' }, label: STRING },
    mcp: { task: 'always' },
    behaves: (execute) => {
      const { seconds = 0, label = '' } = execute.arguments
      const done = says(`Computed ${label} in ${seconds} s.`)
      return seconds === 0 ? done : later(execute, () => wait(seconds, end).then(() => done))
    },
  },
  confirm_delete: {
    input: { filename: STRING },
    mcp: { task: 'always' },
    behaves: asking(
      ({ arguments: { filename } }) => ({ confirm: elicit(`Delete ${filename}?`, { confirm: { type: 'boolean' } }) }),
      ({ confirm }) => says(confirm.content?.confirm ? 'Deleted.' : 'Kept.'),
    ),
  },
  multi_input: {
    mcp: { task: 'always' },
    behaves: asking(
      () => ({ first: elicit('First name?', { name: STRING }), second: elicit('Second name?', { name: STRING }) }),
      ({ first, second }) => says(`${first.content?.name} and ${second.content?.name}`),
    ),
  },
  failing_job: {
    mcp: { task: 'always', requires: ['tasks'] },
    behaves: () => ({ status: 'failed', error_message: 'The job failed.' }),
  },
  protocol_error_job: {
    mcp: { task: 'always' },
    behaves: () => ({ status: 'failed', error_code: 'internal_error', error_message: 'Panic.' }),
  },
  test_tool_with_task: {
    behaves: asking(
      () => ({ user_name: elicit('What is your name?', { name: STRING }) }),
      ({ user_name }, execute) =>
        later(execute, () => wait(8, end).then(() => says(`Hello, ${user_name.content?.name}!`))),
    ),
  },
  test_custom_headers: {
    input: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    behaves: ({ arguments: { region } }) => says(`Region ${region}`),
  },
  // As the suite describes it, without if, then, else and $anchor, which manifests don't accept.
  json_schema_2020_12_tool: {
    input: {
      name: STRING,
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: STRING,
      email: STRING,
    },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { address: { type: 'object', properties: { street: STRING, city: STRING } } },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      additionalProperties: false,
    },
    behaves: () => says('Done.'),
  },
})

const SCOPES = ['runs:read', 'runs:write', 'tools:invoke', 'files:read', 'files:write', 'agents:read', 'workspace:read']

/**
 * Starts the agent with the tools that the conformance suites call, installed in a developer's sandbox with integrations that
 * call it.
 * @param callers each has its own rate limit
 */
export const startConformanceAgent = async (baseUrl: string, callers = 1) => {
  const end = new AbortController()
  const tools = TOOLS(end.signal)
  const server = await startReceiver()
  const received: Execute[] = []
  server.answer(async ({ body }) => {
    const execute = JSON.parse(body.toString())
    received.push(execute)
    const answer =
      execute.tool === undefined ? answerKit(execute, later, end.signal) : tools[execute.tool]?.behaves(execute)
    if (answer === undefined) return { kind: 'answer', status: 202 }
    if (typeof answer === 'string') return { kind: 'answer', status: 500 }
    return { kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
  })
  const developer = await must(baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: `dev-${randomUUID()}@example.com`, name: 'Ada' },
  })
  const headers = { 'x-developer-key': developer.api_key as string }
  const unique = randomBytes(4).toString('hex')
  const install = async (slug: string, manifest: object): Promise<string> => {
    const call = (to: string, body?: object) =>
      must(baseUrl, 'POST', `/api/v1/dev/apps${to}`, { headers, ...(body && { body }) })
    const app = await call('', { slug, name: 'Conformance', type: 'agent', requested_scopes: SCOPES })
    const version = { id: `vendor-${unique}.${slug}`, version: '1.0.0', name: 'Conformance', summary: 'Test agent.' }
    await call(`/${app.id}/versions`, { ...version, ...manifest })
    await call(`/${app.id}/versions/1.0.0/promote`)
    return (await call(`/${app.id}/sandbox-token`)).access_token
  }
  const slug = `conformance-${unique}`
  const agentToken = await install(slug, {
    runtime: { type: 'webhook', endpoint: server.url, resume: true },
    a2a: { messages: true },
    tools: Object.entries(tools).map(([name, { input = {}, schema, required, mcp }]) => ({
      name,
      description: `Does what the suite expects of ${name}.`,
      input_schema: { type: 'object', properties: input, ...(required && { required }), ...schema },
      ...(mcp && { mcp }),
    })),
  })
  const runtime = { type: 'webhook', endpoint: server.url }
  // Tools that make the list of all agents' tools longer than a page.
  const filler = Array.from({ length: 90 }, (_, n) => ({
    name: `tool_${n}`,
    description: 'Does nothing.',
    input_schema: { type: 'object' },
  }))
  const tokens: string[] = []
  for (let n = 0; n < callers; n++)
    tokens.push(await install(`caller-${n}-${unique}`, { runtime, ...(n > 0 && { tools: filler }) }))
  return {
    slug,
    /** Address of the agent's own MCP server. */
    path: `/mcp/agents/${slug}`,
    /** Access tokens of the integrations that call it. */
    tokens,
    agentToken,
    received,
    async close() {
      end.abort()
      await server.close()
    },
  }
}
