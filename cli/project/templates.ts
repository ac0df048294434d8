/** `ts` and `py` are agents on the SDK, `a2a` is an A2A agent on the protocol's official SDK for TypeScript. */
export type Kind = 'ts' | 'py' | 'a2a'

export interface Project {
  slug: string
  vendor: string
  name: string
  summary: string
  /** Address of the agent: for runs, or of the server that has the card. */
  endpoint: string
  /** Version of the SDK. */
  version: string
  /** Scope of the SDK’s npm package. */
  scope: string
  /** The platform that serves the SDK. */
  baseUrl: string
  /** The SDK’s file for Python: its address, with its hash. */
  wheel: string
}

const manifest = (kind: Kind, { slug, vendor, name, summary, endpoint }: Project): string =>
  `${JSON.stringify(
    {
      id: `${vendor}.${slug}`,
      version: '1.0.0',
      name,
      summary,
      runtime: kind === 'a2a' ? { type: 'a2a', card_url: endpoint + CARD_PATH } : { type: 'webhook', endpoint },
      tools: [
        {
          name: 'greet',
          description: 'Greets a person by name.',
          input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      ],
      scopes: ['runs:read', 'runs:write'],
    },
    null,
    2,
  )}\n`

const CARD_PATH = '/.well-known/agent-card.json'

/** Versions that the template is tested with. */
const A2A_DEPENDENCIES = { '@a2a-js/sdk': '^1.3.0', express: '^5.1.0' }

/** The first version of Node that runs TypeScript as it is: major and minor. */
export const RUNS_TYPESCRIPT = [22, 18] as const

const PACKAGE = (kind: Kind, { slug, version, scope }: Project): string =>
  `${JSON.stringify(
    {
      name: slug,
      private: true,
      type: 'module',
      engines: { node: `>=${RUNS_TYPESCRIPT.join('.')}` },
      scripts: { start: 'node --env-file=.env agent.ts' },
      dependencies: kind === 'a2a' ? A2A_DEPENDENCIES : { [`${scope}/sdk`]: `^${version}` },
    },
    null,
    2,
  )}\n`

const TYPESCRIPT = ({ scope }: Project): string => `import { createServer } from 'node:http'
import { AgentError, createAgent } from '${scope}/sdk'
import { node } from '${scope}/sdk/adapters'

const agent = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  async onRun(run) {
    const { name } = run.input
    if (typeof name !== 'string') throw new AgentError('name_missing', 'The input has no name to greet.')
    await run.step('Writing a greeting')
    return { text: \`Hello, \${name}!\` }
  },
})

const port = Number(process.env.PORT ?? 8080)
createServer(node(agent)).listen(port, () => console.log(\`listening on \${port}\`))
`

const A2A = ({ name, summary }: Project): string => `import { randomUUID } from 'node:crypto'
import { type AgentCard, type Message, Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

const port = Number(process.env.PORT ?? 8080)
const base = process.env.BASE_URL ?? \`http://127.0.0.1:\${port}\`

// Publishing a version keeps the interface that the card names. Publish another one if it changes.
const card: AgentCard = {
  name: ${JSON.stringify(name)},
  description: ${JSON.stringify(summary)},
  version: '1.0.0',
  supportedInterfaces: [{ url: \`\${base}/a2a\`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'greet',
      name: 'greet',
      description: 'Greets a person by name.',
      tags: ['greeting'],
      examples: ['Ada'],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  signatures: [],
}

/** Reads the name from a text, or from the arguments of a run: {"name": "Ada"}. */
const nameIn = ({ parts }: Message): string | undefined => {
  for (const { content } of parts) {
    if (content?.$case === 'text' && content.value.trim() !== '') return content.value.trim()
    const data = content?.$case === 'data' ? content.value : {}
    const { name } = data.arguments ?? data
    if (typeof name === 'string') return name
  }
  return undefined
}

const agent: AgentExecutor = {
  async execute({ userMessage, task, taskId, contextId }, bus) {
    const status = (state: TaskState, text: string) => ({
      state,
      timestamp: new Date().toISOString(),
      message: {
        messageId: randomUUID(),
        taskId,
        contextId,
        role: Role.ROLE_AGENT,
        parts: [{ content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    })
    const say = (state: TaskState, text: string): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }))
    if (!task) {
      const working = status(TaskState.TASK_STATE_WORKING, 'Writing a greeting')
      bus.publish(
        AgentEvent.task({ id: taskId, contextId, status: working, artifacts: [], history: [], metadata: undefined }),
      )
    }
    const name = nameIn(userMessage)
    if (name === undefined) say(TaskState.TASK_STATE_INPUT_REQUIRED, 'Whom shall I greet?')
    else say(TaskState.TASK_STATE_COMPLETED, \`Hello, \${name}!\`)
    bus.finished()
  },
  async cancelTask(taskId, bus) {
    const status = { state: TaskState.TASK_STATE_CANCELED, timestamp: new Date().toISOString(), message: undefined }
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }))
    bus.finished()
  },
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent)
const app = express()
app.use('${CARD_PATH}', agentCardHandler({ agentCardProvider: requestHandler }))
app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
app.listen(port, () => console.log(\`listening on \${base}\`))
`

const README = ({ name, endpoint }: Project): string => `# ${name}

An agent that speaks the Agent2Agent protocol (A2A), on its official SDK. The platform knows it by its card, and sends it runs as
messages. It gets no token of the platform.

## Run it

\`\`\`sh
npm install
npm start            # serves the card at ${endpoint}${CARD_PATH}
\`\`\`

## Try it in your sandbox

\`\`\`sh
${endpoint.startsWith('http:') ? 'aip validate --local' : 'aip validate'}         # checks agent.json, without a network
aip publish          # reads the card, and keeps the interface that it names
aip test-run --follow --input '{"name": "Ada"}'
aip test-run --follow --input '{"greeting": "formal"}'   # the agent asks for a name
\`\`\`

## Put it where the platform reaches it

Set \`BASE_URL\` to the agent's public https address, and \`runtime.card_url\` in \`agent.json\` to that address with
\`${CARD_PATH}\`. Raise \`version\`, and publish again. Then \`aip promote 1.0.0\` and \`aip submit\`.

To accept messages from the platform only, give the manifest an \`auth\` and check the credentials in \`userBuilder\`. The guide
“Bring your A2A agent” in the platform's documentation has the details.
`

const PYTHON = `import os

from agent_integration_platform import AgentError, AsyncRun, create_async_agent
from agent_integration_platform.adapters import asgi


async def on_run(run: AsyncRun) -> dict:
    name = run.input.get("name")
    if not isinstance(name, str):
        raise AgentError("name_missing", "The input has no name to greet.")
    await run.step("Writing a greeting")
    return {"text": f"Hello, {name}!"}


app = asgi(create_async_agent(secret=os.environ["SIGNING_SECRET"], on_run=on_run))
`

// By address and hash: under its name, an index could give something else.
const REQUIREMENTS = ({ wheel }: Project): string =>
  `agent-integration-platform @ ${wheel}\nuvicorn>=0.30\npython-dotenv>=1\n`

/** Registry of the SDK, for npm, pnpm, Yarn 1 and Bun. */
const NPMRC = ({ scope, baseUrl }: Project): string => `${scope}:registry=${baseUrl}/packages/npm/\n`

/** Registry of the SDK, for newer versions of Yarn. They refuse plain HTTP, which only a local platform uses. */
const YARNRC = ({ scope, baseUrl }: Project): string =>
  [
    'nodeLinker: node-modules',
    'npmScopes:',
    `  ${scope.slice(1)}:`,
    `    npmRegistryServer: "${baseUrl}/packages/npm/"`,
    ...(baseUrl.startsWith('http:') ? ['unsafeHttpWhitelist:', `  - "${new URL(baseUrl).hostname}"`] : []),
    '',
  ].join('\n')

const codeOf = (kind: Kind, project: Project): Record<string, string> => {
  switch (kind) {
    case 'ts':
      return {
        'package.json': PACKAGE(kind, project),
        '.npmrc': NPMRC(project),
        '.yarnrc.yml': YARNRC(project),
        'agent.ts': TYPESCRIPT(project),
      }
    case 'py':
      return { 'requirements.txt': REQUIREMENTS(project), 'agent.py': PYTHON }
    case 'a2a':
      return { 'package.json': PACKAGE(kind, project), 'agent.ts': A2A(project), 'README.md': README(project) }
  }
}

/** Returns the files of a new agent by their names. */
export const filesOf = (kind: Kind, project: Project): Record<string, string> => ({
  'agent.json': manifest(kind, project),
  ...codeOf(kind, project),
})

/** Commands that install and start the agent. */
export const startOf = (kind: Kind): readonly string[] =>
  kind === 'py'
    ? ['pip install -r requirements.txt', 'uvicorn agent:app --env-file .env --port 8080']
    : ['npm install', 'npm start']

/** Lines of `.gitignore`. */
export const ignoredBy = (kind: Kind): readonly string[] =>
  kind === 'py' ? ['.env', '.venv', '__pycache__'] : ['.env', 'node_modules']
